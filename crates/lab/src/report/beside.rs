//! How far the field has come: what the papers' mechanisms reach in a panel beside what Whimbrel reaches there.

use super::chart::{Chart, Drawn};
use crate::claims::digits;

/// The least and the greatest mean of either.
pub(super) struct Beside {
    /// The panel.
    pub(super) chart: String,
    /// Its title.
    pub(super) title: String,
    /// What is compared, with unit.
    pub(super) quantity: String,
    /// The paper's lines.
    pub(super) paper: String,
    /// Whimbrel's own lines.
    pub(super) ours: String,
}

impl Beside {
    /// `None` if one of both is missing.
    ///
    /// With a metric upwards, all means are taken. Where a metric is across and the sweep upwards (how much has arrived by
    /// when), those at the top are.
    pub(super) fn of(chart: &Chart) -> Option<Self> {
        let upwards = !chart.y.swept;
        let of = |line: &Drawn, ours: bool| if ours { line.ours } else { line.paper };
        let top = |ours: bool| {
            let points = chart.lines.iter().filter(|line| of(line, ours)).flat_map(|line| &line.points);
            points.map(|point| point.y).max_by(f64::total_cmp)
        };
        let top = if upwards { None } else { Some(top(false)?.min(top(true)?)) };
        let means = |ours: bool| {
            let points = chart.lines.iter().filter(|line| of(line, ours)).flat_map(|line| &line.points);
            let points = points.filter(|point| top.is_none_or(|top| point.y == top));
            range(points.map(|point| if upwards { point.y } else { point.x }).collect())
        };
        let (side, at) = match top {
            None => (&chart.y, String::new()),
            Some(top) => (&chart.x, format!(" at {} of {}", digits(top), chart.y.label)),
        };
        Some(Self {
            chart: chart.id.clone(),
            title: chart.title.clone(),
            quantity: format!("{}{at}", side.label),
            paper: means(false)?,
            ours: means(true)?,
        })
    }
}

fn range(mut means: Vec<f64>) -> Option<String> {
    means.sort_by(f64::total_cmp);
    let (least, most) = (digits(*means.first()?), digits(*means.last()?));
    Some(if least == most { least } else { format!("{least} to {most}") })
}
