//! The charts of a scenario file: a panel for each metric that people ask for first.

use super::experiment::HOST;
use crate::experiment::Axes;
use crate::plot::{Line, Plot, Quantity, Source};

/// Panel, metric, label, and what the values are multiplied by.
const PANELS: [(&str, &str, &str, f64); 5] = [
    ("1", "goodput", "goodput (Mbit/s)", 1e-6),
    ("2", "longest_silence", "longest silence (s)", 1.0),
    ("3", "completion_time", "time until the file is there (s)", 1.0),
    ("4", "transfer_time", "transfer time of a message (ms)", 1e3),
    ("5", "late", "messages late or lost (%)", 1e2),
];

/// A line for each policy, host and place of the sweep, but for the axis that runs across.
pub(super) fn lines(policies: &[String], places: &[Axes], across: &str, hosts: &[String]) -> Vec<Line> {
    let mut lines = Vec::new();
    for policy in policies {
        for place in places {
            let at: Axes = place.iter().filter(|(axis, _)| axis != across).cloned().collect();
            let label =
                at.iter().fold(policy.clone(), |label, (axis, value)| format!("{label}, {axis} = {value}"));
            let line = Line { label, series: policy.clone().into(), at };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if hosts.is_empty() {
        return lines;
    }
    let of_hosts = lines.iter().flat_map(|line| {
        hosts.iter().map(|host| {
            let mut line = line.clone();
            line.label = format!("{}, {host}", line.label);
            line.at.push((HOST.into(), host.as_str().into()));
            line
        })
    });
    of_hosts.collect()
}

/// The panels of these metrics, with all lines in each.
pub(super) fn of(
    title: &str,
    across: &str,
    metrics: impl Iterator<Item = &'static str> + Clone,
    lines: Vec<Line>,
) -> Vec<Plot> {
    let panels = PANELS.iter().filter(|(_, metric, ..)| metrics.clone().any(|known| known == *metric));
    let panel = |&(figure, metric, label, factor): &(&'static str, &'static str, &'static str, f64)| Plot {
        figure,
        title: format!("{title}: {metric}"),
        x: Quantity {
            of: Source::Axis(across.to_owned().into()),
            label: across.to_owned().into(),
            ..Quantity::axis("", "")
        },
        y: Quantity::metric(metric, label).times(factor),
        lines: lines.clone(),
    };
    panels.map(panel).collect()
}
