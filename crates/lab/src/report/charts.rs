//! What the charts show, as JSON for the script in the page.

use serde_json::{Value as Json, json};

use crate::plot::{Line, Plot, Quantity, Scale, Source};
use crate::summary::Group;

/// One chart.
pub(super) fn chart(plot: &Plot, groups: &[Group]) -> Json {
    let side = |side: &Quantity| json!({ "label": side.label, "log": side.scale == Scale::Logarithmic });
    let lines: Vec<Json> = plot.lines.iter().filter_map(|line| series(plot, line, groups)).collect();
    json!({ "x": side(&plot.x), "y": side(&plot.y), "lines": lines })
}

/// A line, unless nothing has been measured for it.
fn series(plot: &Plot, line: &Line, groups: &[Group]) -> Option<Json> {
    let fits = |group: &&Group| {
        group.series == line.series
            && line.at.iter().all(|(axis, value)| group.get(axis).is_some_and(|known| known.is_same(value)))
    };
    let (mut points, mut level) = (Vec::new(), None);
    for group in groups.iter().filter(fits) {
        let Some((y, half)) = value(&plot.y, group) else { continue };
        match value(&plot.x, group) {
            Some((x, _)) => points.push([x, y, half]),
            None => level = Some(y),
        }
    }
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    if !points.is_empty() {
        level = None;
    } else if level.is_none() {
        return None;
    }
    Some(json!({ "label": line.label, "points": points, "level": level }))
}

/// A value and half the width of its interval.
fn value(quantity: &Quantity, group: &Group) -> Option<(f64, f64)> {
    let (value, half) = match &quantity.of {
        Source::Axis(axis) => (group.get(axis)?.number()?, 0.0),
        Source::Metric(metric) => {
            group.metric(metric).map(|estimate| (estimate.mean, estimate.half_width))?
        }
    };
    Some((value * quantity.factor, half * quantity.factor))
}
