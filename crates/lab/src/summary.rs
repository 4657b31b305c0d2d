//! Rows of equal place summed up over repetitions.

use std::collections::BTreeSet;

use crate::experiment::{Axes, Experiment, Name, Row};
use crate::statistics::Estimate;
use crate::value::Value;

/// All repetitions of one place in a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its series.
    pub series: Name,
    /// Its values, in the order of the experiment's axes.
    pub axes: Axes,
    /// How often it was run.
    pub repetitions: u64,
    /// Its metrics, those that no repetition could measure left out.
    pub metrics: Vec<(Name, Estimate)>,
}

impl Group {
    /// The value on an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.axes.iter().find(|(name, _)| name == axis).map(|(_, value)| value)
    }

    /// A metric.
    pub fn metric(&self, name: &str) -> Option<Estimate> {
        self.metrics.iter().find(|(known, _)| known == name).map(|(_, estimate)| *estimate)
    }
}

/// Sums up, in the order in which places first appear.
pub fn summarise(experiment: &dyn Experiment, rows: &[Row]) -> Vec<Group> {
    let mut order: Vec<(String, Vec<&Row>)> = Vec::new();
    let mut index = std::collections::BTreeMap::new();
    for row in rows {
        let key = place(&row.series, &row.axes);
        let at = *index.entry(key.clone()).or_insert_with(|| {
            order.push((key, Vec::new()));
            order.len() - 1
        });
        order[at].1.push(row);
    }
    let names = experiment.metrics();
    let group = |rows: Vec<&Row>| {
        let estimate = |name: &Name| {
            let values = rows.iter().flat_map(|row| row.metrics.iter()).filter(|(known, _)| known == name);
            Some((name.clone(), Estimate::of(values.map(|(_, value)| *value))?))
        };
        let first = rows.first()?;
        Some(Group {
            series: first.series.clone(),
            axes: first.axes.clone(),
            repetitions: rows.iter().map(|row| row.repetition).collect::<BTreeSet<_>>().len() as u64,
            metrics: names.iter().filter_map(estimate).collect(),
        })
    };
    order.into_iter().filter_map(|(_, rows)| group(rows)).collect()
}

fn place(series: &str, axes: &Axes) -> String {
    let mut key = series.to_owned();
    for (name, value) in axes {
        key.push_str(&format!("|{name}={}", value.json()));
    }
    key
}
