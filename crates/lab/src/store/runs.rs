//! Whether the runs of a journal are what its sweep yields: a file may have been made by somebody else, or of parts of others.

use std::collections::BTreeSet;

use crate::experiment::{Cell, Experiment, Name, Row};
use crate::runner::{Done, Run, Sweep};

/// Runs of this sweep, each with rows of its own cell.
///
/// # Errors
/// What is wrong with them, as people say it.
pub(super) fn check(experiment: &dyn Experiment, sweep: &Sweep, done: &Done) -> Result<(), String> {
    if done.is_empty() {
        return Ok(());
    }
    let own: BTreeSet<Run> = sweep.runs().filter(|run| done.contains_key(run)).collect();
    let (axes, metrics) = (experiment.axes(), experiment.metrics());
    for (run, rows) in done {
        let named = || format!("cell {}, repetition {}", run.cell, run.repetition);
        let Some(cell) = sweep.cells.get(&run.cell).filter(|_| own.contains(run)) else {
            return Err(format!("it has a run that is none of its own: {}", named()));
        };
        for row in rows {
            row_of(cell, row, &axes, &metrics).map_err(|what| format!("{}: {what}", named()))?;
            if row.seed != experiment.seed(run.repetition) {
                return Err(format!("{}: the seed is not that of the repetition", named()));
            }
        }
    }
    Ok(())
}

/// A row of this cell, with columns that the experiment has.
fn row_of(cell: &Cell, row: &Row, axes: &[Name], metrics: &[Name]) -> Result<(), String> {
    let of_cell = |(name, value): &(Name, crate::Value)| {
        row.axes.iter().any(|(known, other)| known == name && other.is_same(value))
    };
    if row.series != cell.series || !cell.axes.iter().all(of_cell) {
        return Err(format!("a row is of another place than {}", cell.label()));
    }
    columns(row.axes.iter().map(|(name, _)| name), axes, "axis")?;
    columns(row.metrics.iter().map(|(name, _)| name), metrics, "metric")
}

/// Each one that there is, and none twice.
fn columns<'a>(names: impl Iterator<Item = &'a Name>, known: &[Name], what: &str) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !known.contains(name) {
            return Err(format!("there is no {what} called {name:?}"));
        }
        if !seen.insert(name) {
            return Err(format!("the {what} {name} is there twice"));
        }
    }
    Ok(())
}
