//! Means by metric and place, as checks ask for them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::experiment::{Axes, Experiment, Name, PAPER};
use crate::scenario::Scenario;
use crate::summary::Group;
use crate::value::Value;

/// Means and half widths of 95 % confidence intervals of the papers' series, by `scenario.metric` and place.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Results(BTreeMap<String, Known>);

#[derive(Clone, Copy, PartialEq, Debug)]
struct Known {
    mean: f64,
    half_width: f64,
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
    /// Takes in what an experiment yielded.
    pub fn add(&mut self, experiment: &dyn Experiment, groups: &[Group]) {
        for scenario in core::iter::once(experiment.scenario()).chain(experiment.others()) {
            for group in groups.iter().filter(|group| group.series == PAPER) {
                for (metric, estimate) in &group.metrics {
                    let key = key(scenario, metric, &group.axes);
                    let runs = Runs { done: group.repetitions, usual: experiment.repetitions() };
                    let measured = Runs { done: estimate.count as u64, usual: group.repetitions };
                    let (mean, half_width) = (estimate.mean, estimate.half_width);
                    let known = Known { mean, half_width, runs: Some(runs), measured: Some(measured) };
                    self.0.insert(key, known);
                }
            }
        }
    }

    /// Takes in one mean, and half the width of its interval.
    pub fn insert(&mut self, key: String, mean: f64, half_width: f64) {
        self.0.insert(key, Known { mean, half_width, runs: None, measured: None });
    }

    /// The mean of a metric, and half the width of its interval.
    pub fn get(&self, key: &str) -> Option<(f64, f64)> {
        self.0.get(key).map(|known| (known.mean, known.half_width))
    }

    /// How often the place of a metric was run; `None` if nothing is known of that.
    pub fn runs(&self, key: &str) -> Option<Runs> {
        self.0.get(key).and_then(|known| known.runs)
    }

    /// In how many of the runs made there the metric could be measured; `None` if nothing is known of that.
    pub fn measured(&self, key: &str) -> Option<Runs> {
        self.0.get(key).and_then(|known| known.measured)
    }

    /// As JSON: an object with `scenario.metric|{axes}` as keys and `[mean, half width]` as values.
    pub fn json(&self) -> Json {
        let entries = self.0.iter().map(|(key, known)| (key.clone(), json!([known.mean, known.half_width])));
        Json::Object(entries.collect::<Map<_, _>>())
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
