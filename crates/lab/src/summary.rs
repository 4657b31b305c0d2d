//! Rows of equal place summed up over repetitions.

use std::collections::BTreeSet;

use crate::experiment::{Axes, Experiment, Name, Row};
use crate::statistics::{Estimate, median, median_interval};
use crate::value::Value;

/// How far apart mean and median have to be, as a share of the greater one.
const LEAST: f64 = 0.05;

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
    /// What each repetition measured of them, in ascending order.
    pub runs: Vec<(Name, Vec<f64>)>,
}

impl Group {
    /// The value on an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.axes.iter().find(|(name, _)| name == axis).map(|(_, value)| value)
    }

    /// What the repetitions measured of a metric, in ascending order.
    pub fn runs(&self, name: &str) -> &[f64] {
        self.runs.iter().find(|(known, _)| known == name).map_or(&[], |(_, runs)| runs)
    }

    /// The median of a metric if the mean hangs on a few runs: if it lies outside of the median's confidence interval (its own is wide where a
    /// single run is far off), by more than nobody cares about.
    pub fn median_apart(&self, name: &str) -> Option<f64> {
        let (mean, runs) = (self.metric(name)?.mean, self.runs(name));
        let (median, (low, high)) = (median(runs)?, median_interval(runs)?);
        let matters = (mean - median).abs() > LEAST * mean.abs().max(median.abs());
        (matters && !(low..=high).contains(&mean)).then_some(median)
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
        let values = |name: &Name| {
            let known = rows.iter().flat_map(|row| row.metrics.iter()).filter(|(known, _)| known == name);
            known.map(|(_, value)| *value).filter(|value| value.is_finite()).collect::<Vec<_>>()
        };
        let runs = |name: &Name| {
            let mut runs = values(name);
            runs.sort_by(f64::total_cmp);
            (name.clone(), runs)
        };
        let estimate = |name: &Name| Some((name.clone(), Estimate::of(values(name))?));
        let first = rows.first()?;
        Some(Group {
            series: first.series.clone(),
            axes: first.axes.clone(),
            repetitions: rows.iter().map(|row| row.repetition).collect::<BTreeSet<_>>().len() as u64,
            metrics: names.iter().filter_map(estimate).collect(),
            runs: names.iter().map(runs).filter(|(_, runs)| !runs.is_empty()).collect(),
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
