//! Means by metric and place, as checks ask for them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::experiment::{Axes, Experiment, Name, PAPER};
use crate::scenario::Scenario;
use crate::summary::Group;
use crate::value::Value;

/// Means and half widths of 95 % confidence intervals of the papers' series, by `scenario.metric` and place.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Results(BTreeMap<String, (f64, f64)>);

impl Results {
    /// Takes in what an experiment yielded.
    pub fn add(&mut self, experiment: &dyn Experiment, groups: &[Group]) {
        for scenario in core::iter::once(experiment.scenario()).chain(experiment.others()) {
            for group in groups.iter().filter(|group| group.series == PAPER) {
                for (metric, estimate) in &group.metrics {
                    let key = key(scenario, metric, &group.axes);
                    self.0.insert(key, (estimate.mean, estimate.half_width));
                }
            }
        }
    }

    /// Takes in one mean, and half the width of its interval.
    pub fn insert(&mut self, key: String, mean: f64, half_width: f64) {
        self.0.insert(key, (mean, half_width));
    }

    /// The mean of a metric, and half the width of its interval.
    pub fn get(&self, key: &str) -> Option<(f64, f64)> {
        self.0.get(key).copied()
    }

    /// As JSON: an object with `scenario.metric|{axes}` as keys and `[mean, half width]` as values.
    pub fn json(&self) -> Json {
        let entries = self.0.iter().map(|(key, (mean, half))| (key.clone(), json!([mean, half])));
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
