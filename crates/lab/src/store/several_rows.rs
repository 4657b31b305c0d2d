//! Whether runs that yield several rows (one for each message, packet, step or host) have all of them.
//!
//! Which rows a run yields depends on its cell alone: what could not be measured leaves a row without a number, not no row.

use std::collections::{BTreeMap, BTreeSet};

use crate::experiment::{Cell, Experiment};

/// A row among those of a run: values by axis, for the axes that the cell does not have.
pub(super) type Place = BTreeMap<String, String>;
/// All rows of a run.
pub(super) type Run = BTreeSet<Place>;

/// Of each cell every repetition, compared with each other, with what the experiment says of an axis, and with other cells of the series.
///
/// # Errors
/// Which row is missing, as people say it.
pub(super) fn are_complete(
    experiment: &dyn Experiment,
    cells: &[Cell],
    runs: &BTreeMap<usize, BTreeMap<u64, Run>>,
) -> Result<(), String> {
    let mut whole: BTreeMap<&str, usize> = BTreeMap::new();
    for (cell, repetitions) in runs {
        let Some(cell) = cells.get(*cell) else { continue };
        let all: Run = repetitions.values().flatten().cloned().collect();
        for (repetition, run) in repetitions {
            if let Some(missing) = all.difference(run).next() {
                return Err(lacks(cell, *repetition, missing));
            }
        }
        if let (Some(missing), Some(repetition)) =
            (not_as_stated(experiment, &all), repetitions.keys().next())
        {
            return Err(lacks(cell, *repetition, &missing));
        }
        *whole.entry(&cell.series).or_default() += usize::from(all.contains(&Place::new()));
    }
    // The row of a run as a whole, which some series have in every cell and others in none.
    let of_series = |series: &str| cells.iter().filter(|cell| cell.series == series).count();
    match whole.into_iter().find(|&(series, count)| count > 0 && count < of_series(series)) {
        Some((series, count)) => {
            let missing = of_series(series) - count;
            Err(format!("{missing} places of the series {series} lack the row of the run as a whole"))
        }
        None => Ok(()),
    }
}

fn lacks(cell: &Cell, repetition: u64, missing: &Place) -> String {
    let named: String = missing.iter().map(|(axis, value)| format!(" {axis}={value}")).collect();
    let row = if named.is_empty() { " of the run as a whole" } else { &named };
    format!("{}, repetition {repetition}: the row{row} is missing", cell.label())
}

/// A row that is missing beside others, where the experiment lists the values of an axis: who has one of them has all.
fn not_as_stated(experiment: &dyn Experiment, run: &Run) -> Option<Place> {
    let axes: BTreeSet<&String> = run.iter().flat_map(BTreeMap::keys).collect();
    axes.into_iter().find_map(|axis| {
        let stated = experiment.values(axis);
        run.iter().filter(|row| row.contains_key(axis)).find_map(|row| {
            stated.iter().find_map(|value| {
                let mut beside = row.clone();
                beside.insert(axis.clone(), value.to_string());
                (!run.contains(&beside)).then_some(beside)
            })
        })
    })
}
