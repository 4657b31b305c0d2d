//! Runs sweeps on all cores. What comes out depends on the seeds alone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, Row, Watch};

/// What is to be run of one experiment.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The cells, by their number in [`Experiment::cells`].
    pub cells: BTreeMap<usize, Cell>,
    /// Repetitions of each.
    pub repetitions: u64,
    /// Added to every repetition's number before the seed is made of it, for other draws than the usual ones.
    pub first: u64,
    /// Threads.
    pub jobs: usize,
}

impl Sweep {
    /// Everything, as often as the paper does it.
    pub fn whole(experiment: &dyn Experiment, jobs: usize) -> Self {
        let cells = experiment.cells().into_iter().enumerate().collect();
        Self { cells, repetitions: experiment.repetitions(), first: 0, jobs }
    }

    /// The numbers of the repetitions.
    pub fn numbers(&self) -> core::ops::Range<u64> {
        self.first..self.first.saturating_add(self.repetitions)
    }

    /// How many runs that is.
    pub fn runs(&self) -> usize {
        self.cells.len().saturating_mul(self.repetitions as usize)
    }
}

/// Something has been done.
#[derive(Debug)]
pub enum Progress {
    /// One run.
    Run,
    /// All repetitions of a cell: its number and its rows, in the order of repetitions.
    Cell(usize, Vec<Row>),
}

/// Runs a sweep and tells `on_progress` of each run and each complete cell, in whatever order they are done, until it
/// answers false. A run that panics ends the whole program's sweep with that panic.
pub fn run(experiment: &dyn Experiment, sweep: &Sweep, mut on_progress: impl FnMut(Progress) -> bool) {
    let cells: Vec<(usize, &Cell)> = sweep.cells.iter().map(|(&number, cell)| (number, cell)).collect();
    // Cell by cell, each with all its repetitions; made one at a time, since there may be many millions.
    let work = |at: usize| {
        let (cell, repetition) = (at as u64 / sweep.repetitions, at as u64 % sweep.repetitions);
        cells.get(cell as usize).map(|&(number, cell)| (number, cell, repetition))
    };
    if sweep.repetitions == 0 {
        return;
    }
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..sweep.jobs.clamp(1, sweep.runs().max(1)) {
            let (done, work, next, stop) = (done.clone(), &work, &next, &stop);
            scope.spawn(move || {
                while let Some((number, cell, repetition)) = work(next.fetch_add(1, Ordering::Relaxed)) {
                    let seed = experiment.seed(sweep.first + repetition);
                    let outcome = experiment.run(cell, seed, Watch::default());
                    let rows = rows(experiment, cell, sweep.first + repetition, seed, outcome);
                    if stop.load(Ordering::Relaxed) || done.send((number, repetition, rows)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut waiting: BTreeMap<usize, BTreeMap<u64, Vec<Row>>> = BTreeMap::new();
        for (number, repetition, rows) in results {
            let cell = waiting.entry(number).or_default();
            cell.insert(repetition, rows);
            let complete =
                (cell.len() as u64 == sweep.repetitions).then(|| waiting.remove(&number)).flatten();
            let mut goes_on = on_progress(Progress::Run);
            if let Some(cell) = complete {
                goes_on &= on_progress(Progress::Cell(number, cell.into_values().flatten().collect()));
            }
            if !goes_on {
                stop.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
}

/// The rows of a run, with axes and metrics in the experiment's order.
fn rows(experiment: &dyn Experiment, cell: &Cell, repetition: u64, seed: u64, outcome: Outcome) -> Vec<Row> {
    let (names, metrics) = (experiment.axes(), experiment.metrics());
    let row = |sample: crate::Sample| {
        let axes: Axes = cell.axes.iter().cloned().chain(sample.axes).collect();
        Row {
            series: cell.series.clone(),
            axes: in_order(axes, &names),
            repetition,
            seed,
            metrics: in_order(sample.metrics, &metrics),
        }
    };
    outcome.samples.into_iter().map(row).collect()
}

/// Sorts by name; what has no name in `order` would have no column.
fn in_order<T>(mut named: Vec<(Name, T)>, order: &[Name]) -> Vec<(Name, T)> {
    let place = |name: &Name| order.iter().position(|known| known == name);
    debug_assert!(named.iter().all(|(name, _)| place(name).is_some()), "unknown axis or metric");
    named.retain(|(name, _)| place(name).is_some());
    named.sort_by_key(|(name, _)| place(name));
    named
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
