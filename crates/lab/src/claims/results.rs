//! What was measured, by metric and place, as checks ask for it.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::draws::Draw;
use crate::experiment::{Axes, Experiment, Name, PAPER, Row};
use crate::scenario::Scenario;
use crate::statistics::Estimate;
use crate::summary::summarise;
use crate::value::Value;

/// Means and half widths of 95 % confidence intervals of the papers' series, by `scenario.metric` and place.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Results {
    known: BTreeMap<String, Known>,
    /// How many repetitions each experiment has.
    pub(super) experiments: Vec<usize>,
}

#[derive(Clone, PartialEq, Debug)]
struct Known {
    mean: f64,
    half_width: f64,
    /// The experiment, and its values by repetition where they could be measured; none if means alone are known.
    values: Option<(usize, Vec<Option<f64>>)>,
    runs: Option<Runs>,
    measured: Option<Runs>,
}

/// How often something was run, and how often it is run usually, which is as often as the paper did it; or in how many runs it could
/// be measured, and how many there were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runs {
    /// How often it was run, or measured.
    pub done: u64,
    /// How often it is run usually, or was run.
    pub usual: u64,
}

impl Runs {
    /// Whether some are missing.
    pub const fn are_few(self) -> bool {
        self.done < self.usual
    }

    /// Whether these are a smaller share than those.
    pub const fn are_fewer_than(self, other: Self) -> bool {
        self.done.saturating_mul(other.usual) < other.done.saturating_mul(self.usual)
    }
}

impl Results {
    /// Takes in the rows that an experiment has yielded.
    pub fn add(&mut self, experiment: &dyn Experiment, rows: &[Row]) {
        let mut numbers: Vec<u64> = rows.iter().map(|row| row.repetition).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let number = self.experiments.len();
        self.experiments.push(numbers.len());
        let paper: Vec<Row> = rows.iter().filter(|row| row.series == PAPER).cloned().collect();
        let groups = summarise(experiment, &paper);
        for scenario in core::iter::once(experiment.scenario()).chain(experiment.others()) {
            for group in &groups {
                for (metric, Estimate { count, mean, half_width }) in &group.metrics {
                    let runs = Runs { done: group.repetitions, usual: experiment.repetitions() };
                    let measured = Runs { done: *count as u64, usual: group.repetitions };
                    let known = Known {
                        mean: *mean,
                        half_width: *half_width,
                        values: Some((number, vec![None; numbers.len()])),
                        runs: Some(runs),
                        measured: Some(measured),
                    };
                    self.known.insert(key(scenario, metric, &group.axes), known);
                }
            }
            for row in &paper {
                let at = numbers.binary_search(&row.repetition).unwrap_or_default();
                for (metric, value) in row.metrics.iter().filter(|(_, value)| value.is_finite()) {
                    let known = self.known.get_mut(&key(scenario, metric, &row.axes));
                    if let Some((_, values)) = known.and_then(|known| known.values.as_mut()) {
                        values[at] = Some(*value);
                    }
                }
            }
        }
    }

    /// Takes in one mean, and half the width of its interval.
    pub fn insert(&mut self, key: String, mean: f64, half_width: f64) {
        let known = Known { mean, half_width, values: None, runs: None, measured: None };
        self.known.insert(key, known);
    }

    /// The mean of a metric, and half the width of its interval.
    pub fn get(&self, key: &str) -> Option<(f64, f64)> {
        self.known.get(key).map(|known| (known.mean, known.half_width))
    }

    /// The same of the repetitions that were drawn; `None` if none of them could measure it.
    pub(super) fn get_drawn(&self, key: &str, draw: &Draw) -> Option<(f64, f64)> {
        let known = self.known.get(key)?;
        let Some((experiment, values)) = &known.values else { return self.get(key) };
        let drawn = draw.of(*experiment).iter().filter_map(|&at| values.get(at).copied().flatten());
        Estimate::of(drawn).map(|estimate| (estimate.mean, estimate.half_width))
    }

    /// How many repetitions there are to draw from; `None` if the mean alone is known.
    pub(super) fn repetitions(&self, key: &str) -> Option<usize> {
        Some(self.known.get(key)?.values.as_ref()?.1.len())
    }

    /// Whether other repetitions could have given another mean.
    pub(super) fn varies(&self, key: &str) -> bool {
        let values = self.known.get(key).and_then(|known| known.values.as_ref());
        values.is_some_and(|(_, values)| values.windows(2).any(|pair| pair[0] != pair[1]))
    }

    /// How often the place of a metric was run; `None` if nothing is known of that.
    pub fn runs(&self, key: &str) -> Option<Runs> {
        self.known.get(key).and_then(|known| known.runs)
    }

    /// In how many of the runs made there the metric could be measured; `None` if nothing is known of that.
    pub fn measured(&self, key: &str) -> Option<Runs> {
        self.known.get(key).and_then(|known| known.measured)
    }

    /// As JSON: an object with `scenario.metric|{axes}` as keys, and as values `[mean, half width]`; where the values by repetition are known,
    /// the number of the experiment, they, and how many repetitions are usual stand behind these.
    pub fn json(&self) -> Json {
        let entry = |(key, known): (&String, &Known)| {
            let value = match &known.values {
                Some((experiment, values)) => {
                    let usual = known.runs.map(|runs| runs.usual);
                    json!([known.mean, known.half_width, experiment, values, usual])
                }
                None => json!([known.mean, known.half_width]),
            };
            (key.clone(), value)
        };
        Json::Object(self.known.iter().map(entry).collect::<Map<_, _>>())
    }
}

/// The key of a place: the values in the scenario's own spelling, sorted by axis.
pub(super) fn key(scenario: &Scenario, metric: &str, axes: &Axes) -> String {
    let own = |(axis, value): &(Name, Value)| {
        let known = scenario.axis(axis).into_iter().find(|known| known.is_same(value));
        (axis.clone(), known.unwrap_or_else(|| value.clone()))
    };
    let mut axes: Vec<(Name, Value)> = axes.iter().map(own).collect();
    axes.sort_by(|a, b| a.0.cmp(&b.0));
    let axes: Vec<String> =
        axes.iter().map(|(axis, value)| format!("\"{axis}\": {}", value.json())).collect();
    format!("{}.{metric}|{{{}}}", scenario.id(), axes.join(", "))
}
