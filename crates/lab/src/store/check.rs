//! Whether a file has all rows that a run writes, and no others: files are edited by hand and cut off by full disks.

use std::collections::{BTreeMap, BTreeSet};

use super::several_rows::{self, Place, Run};
use crate::experiment::{Axes, Cell, Experiment, Row};

/// Rows as a complete run of the experiment leaves them.
///
/// # Errors
/// What is wrong with them, as people say it.
pub(super) fn complete(experiment: &dyn Experiment, rows: &[Row]) -> Result<(), String> {
    let cells = Cells::of(experiment);
    let mut runs: BTreeMap<usize, BTreeMap<u64, Run>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (line, row) in (2..).zip(rows) {
        let wrong = |what: &str| Err(format!("line {line}: {what}"));
        let Some(cell) = cells.find(row) else { return wrong("there is no such place in the sweep") };
        if row.seed != experiment.seed(row.repetition) {
            return wrong("the seed is not that of the repetition");
        }
        if !seen.insert((key(&row.series, &row.axes, |_| true), row.repetition)) {
            return wrong("this row is there twice");
        }
        let run = runs.entry(cell).or_default().entry(row.repetition).or_default();
        run.insert(cells.besides(cell, row));
    }
    let Some(first) = runs.values().next() else { return Err("it has no rows".to_owned()) };
    if runs.len() < cells.count() {
        let missing = cells.count() - runs.len();
        return Err(format!("rows of {missing} of {} places are missing", cells.count()));
    }
    if let Some(other) = runs.values().find(|other| !other.keys().eq(first.keys())) {
        return Err(format!("one place has {} repetitions and another has {}", first.len(), other.len()));
    }
    several_rows::are_complete(experiment, &cells.cells, &runs)
}

/// The cells of an experiment by what rows say of them.
struct Cells {
    cells: Vec<Cell>,
    by_key: BTreeMap<String, usize>,
    /// For each series, which axes its cells have.
    axes: BTreeSet<(String, Vec<String>)>,
}

impl Cells {
    fn of(experiment: &dyn Experiment) -> Self {
        let (mut by_key, mut axes) = (BTreeMap::new(), BTreeSet::new());
        let cells = experiment.cells();
        for (number, cell) in cells.iter().enumerate() {
            by_key.insert(key(&cell.series, &cell.axes, |_| true), number);
            let names = cell.axes.iter().map(|(name, _)| name.to_string()).collect();
            axes.insert((cell.series.to_string(), names));
        }
        Self { cells, by_key, axes }
    }

    fn count(&self) -> usize {
        self.cells.len()
    }

    /// Where a row stands among those of its run: its values on axes that its cell does not have.
    fn besides(&self, cell: usize, row: &Row) -> Place {
        let own = |axis: &str| self.cells.get(cell).is_some_and(|cell| cell.get(axis).is_some());
        let others = row.axes.iter().filter(|(axis, _)| !own(axis));
        others.map(|(axis, value)| (axis.to_string(), value.to_string())).collect()
    }

    fn find(&self, row: &Row) -> Option<usize> {
        let own = self.axes.iter().filter(|(series, _)| *series == row.series);
        let keys = own.map(|(_, names)| key(&row.series, &row.axes, |axis| names.iter().any(|n| n == axis)));
        keys.into_iter().find_map(|key| self.by_key.get(&key).copied())
    }
}

fn key(series: &str, axes: &Axes, counts: impl Fn(&str) -> bool) -> String {
    let mut named: Vec<String> = axes
        .iter()
        .filter(|(name, _)| counts(name))
        .map(|(name, value)| format!("|{name}={value}"))
        .collect();
    named.sort();
    format!("{series}{}", named.concat())
}
