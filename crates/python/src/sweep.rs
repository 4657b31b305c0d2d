//! Sweeps, without Python's lock, and ended by Ctrl-C.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "who waits for a sweep lives in real time"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use whimbrel_lab::runner::{self, Done, Sweep};
use whimbrel_lab::{Cell, Experiment, Row, Shard, store};

use crate::scenario::{open, wrong};

/// How many seeds an experiment has; behind them those of another one begin.
const SEEDS: u64 = 1_000_000;
/// Threads, of which more than there are processors are of no use.
const MOST_JOBS: usize = 1024;
/// Time between two looks at whether somebody has pressed Ctrl-C: each has to wait for Python's lock.
const LOOK: Duration = Duration::from_millis(50);

/// The rows of a sweep as an Arrow IPC stream. `seeds` is the number of the first repetition and how many there are, `cells` numbers of cells,
/// `shard` a part's number, from 1, and how many parts there are; `jobs` is how many threads there are, one per processor without it.
#[pyfunction]
#[pyo3(signature = (name, text, seeds, cells, shard, jobs))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    name: &str,
    text: Option<&str>,
    seeds: Option<(u64, u64)>,
    cells: Option<Vec<usize>>,
    shard: Option<(u64, u64)>,
    jobs: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let table = py.detach(|| {
        let experiment = open(name, text)?;
        let sweep = sweep(&*experiment, seeds, cells, shard, jobs)?;
        let rows = rows(&*experiment, &sweep)?;
        Ok::<_, PyErr>(store::arrow_stream(&*experiment, &rows)?)
    })?;
    Ok(PyBytes::new(py, &table))
}

fn sweep(
    experiment: &dyn Experiment,
    seeds: Option<(u64, u64)>,
    cells: Option<Vec<usize>>,
    shard: Option<(u64, u64)>,
    jobs: Option<usize>,
) -> PyResult<Sweep> {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.unwrap_or_else(cpus);
    if !(1..=MOST_JOBS).contains(&jobs) {
        return Err(wrong(format!("jobs is {jobs}, and must be from 1 to {MOST_JOBS}")));
    }
    let mut sweep = Sweep::whole(experiment, jobs);
    choose_seeds(&mut sweep, seeds)?;
    if let Some(numbers) = cells {
        sweep.cells = chosen(sweep.cells, &numbers)?;
    }
    if let Some((number, of)) = shard {
        sweep.shard = Some(Shard::new(number, of).map_err(wrong)?);
    }
    Ok(sweep)
}

/// Takes the number of the first repetition and how many there are instead of the usual ones.
pub(crate) fn choose_seeds(sweep: &mut Sweep, seeds: Option<(u64, u64)>) -> PyResult<()> {
    let Some((first, repetitions)) = seeds else { return Ok(()) };
    if repetitions == 0 || first.saturating_add(repetitions) > SEEDS {
        return Err(wrong(format!("seeds are one or more of the numbers from 0 to {}", SEEDS - 1)));
    }
    (sweep.first, sweep.repetitions) = (first, repetitions);
    Ok(())
}

fn chosen(mut all: BTreeMap<usize, Cell>, numbers: &[usize]) -> PyResult<BTreeMap<usize, Cell>> {
    let last = all.len().saturating_sub(1);
    if let Some(number) = numbers.iter().find(|number| **number > last) {
        return Err(wrong(format!("there is no cell {number}; the last is {last}")));
    }
    all.retain(|number, _| numbers.contains(number));
    Ok(all)
}

/// Runs it until it is done or a signal's handler raises something, which is raised here then.
fn rows(experiment: &dyn Experiment, sweep: &Sweep) -> PyResult<Vec<Row>> {
    let mut raised = None;
    let mut looked = Instant::now();
    let on_run = |_: runner::Run, _: &[Row]| {
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            raised = Python::attach(|py| py.check_signals()).err();
        }
        raised.is_none()
    };
    // A run that panics is our error. To Python it is one that a program can catch.
    let done = catch_unwind(AssertUnwindSafe(|| runner::run(experiment, sweep, Done::new(), on_run)));
    let done = done.map_err(|_| PyRuntimeError::new_err("a run has failed: an error of Whimbrel's"))?;
    raised.map_or_else(|| Ok(done.into_values().flatten().collect()), Err)
}
