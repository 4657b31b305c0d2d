//! Runs sweeps on all cores. What comes out depends on the seeds alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, Row, Watch};
use crate::shard::Shard;

/// What is to be run of one experiment.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The cells, by their number in [`Experiment::cells`].
    pub cells: BTreeMap<usize, Cell>,
    /// Repetitions of each.
    pub repetitions: u64,
    /// Added to every repetition's number before the seed is made of it, for other draws than the usual ones.
    pub first: u64,
    /// The part of it that is run here; all of it if there is none.
    pub shard: Option<Shard>,
    /// Threads.
    pub jobs: usize,
}

/// One run of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Run {
    /// Its cell, by the number in [`Experiment::cells`].
    pub cell: usize,
    /// Its repetition, from [`Sweep::first`] on.
    pub repetition: u64,
}

/// The rows of runs, in the order in which tables have them.
pub type Done = BTreeMap<Run, Vec<Row>>;

impl Sweep {
    /// Everything, as often as the paper does it.
    pub fn whole(experiment: &dyn Experiment, jobs: usize) -> Self {
        let cells = experiment.cells().into_iter().enumerate().collect();
        Self { cells, repetitions: experiment.repetitions(), first: 0, shard: None, jobs }
    }

    /// The numbers of the repetitions.
    pub fn numbers(&self) -> core::ops::Range<u64> {
        self.first..self.first.saturating_add(self.repetitions)
    }

    /// How many runs it has, those of other parts among them.
    pub fn size(&self) -> u64 {
        (self.cells.len() as u64).saturating_mul(self.repetitions)
    }

    /// How many of them are run here.
    pub fn share(&self) -> u64 {
        self.shard.unwrap_or(Shard::WHOLE).share(self.size())
    }

    /// What is run here: cell by cell, each with all its repetitions. Made one at a time, since there may be many millions.
    pub fn runs(&self) -> impl Iterator<Item = Run> + Send {
        let cells: Vec<usize> = self.cells.keys().copied().collect();
        let (repetitions, first) = (self.repetitions, self.first);
        let run = move |place: u64| {
            let cell = *cells.get(usize::try_from(place.checked_div(repetitions)?).ok()?)?;
            Some(Run { cell, repetition: first.saturating_add(place % repetitions) })
        };
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        (0..).map(move |round| shard.place(round)).map_while(run)
    }
}

/// Runs what is not done yet of a sweep, and returns all that is done then. Tells `on_run` of each run, in whatever order they end, until it
/// answers false. A run that panics ends the whole program's sweep with that panic.
pub fn run(
    experiment: &dyn Experiment,
    sweep: &Sweep,
    mut done: Done,
    mut on_run: impl FnMut(Run, &[Row]) -> bool,
) -> Done {
    let before: BTreeSet<Run> = done.keys().copied().collect();
    let left = Mutex::new(sweep.runs().filter(|run| !before.contains(run)));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let threads = u64::try_from(sweep.jobs).unwrap_or(u64::MAX).clamp(1, sweep.share().max(1));
    let stop = AtomicBool::new(false);
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while let Some(run) = next() {
                    let rows = rows_of(experiment, sweep, run);
                    if stop.load(Ordering::Relaxed) || sender.send((run, rows)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (run, rows) in results {
            let goes_on = on_run(run, &rows);
            done.insert(run, rows);
            if !goes_on {
                stop.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
    done
}

/// Runs once, and returns the rows with axes and metrics in the experiment's order.
fn rows_of(experiment: &dyn Experiment, sweep: &Sweep, run: Run) -> Vec<Row> {
    let Some(cell) = sweep.cells.get(&run.cell) else { return Vec::new() };
    let seed = experiment.seed(run.repetition);
    let Outcome { samples, .. } = experiment.run(cell, seed, Watch::default());
    let (names, metrics) = (experiment.axes(), experiment.metrics());
    let row = |sample: crate::Sample| {
        let axes: Axes = cell.axes.iter().cloned().chain(sample.axes).collect();
        Row {
            series: cell.series.clone(),
            axes: in_order(axes, &names),
            repetition: run.repetition,
            seed,
            metrics: in_order(sample.metrics, &metrics),
        }
    };
    samples.into_iter().map(row).collect()
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
