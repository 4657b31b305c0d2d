//! How far the field has come: what the papers' mechanisms reach in a panel beside what Whimbrel reaches there.

use super::chart::{Chart, Drawn};
use crate::claims::digits;
use crate::experiment::{PAPER, SEAMLESS};
use crate::scheme::{POLICY_ALONE, PROFILE_ALONE};

/// The least and the greatest mean of each: of the paper's policy and profile, of one of both, and of Whimbrel's.
pub(super) struct Beside {
    /// The panel.
    pub(super) chart: String,
    /// Its title.
    pub(super) title: String,
    /// What is compared, with unit.
    pub(super) quantity: String,
    /// What the paper's scheme is called.
    pub(super) scheme: String,
    /// The paper's lines.
    pub(super) paper: String,
    /// Those with the paper's policy and our profile, empty if there are none.
    pub(super) profile_alone: String,
    /// Those with our policy and the paper's profile, empty if there are none.
    pub(super) policy_alone: String,
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
        let points_of = |series: &str| {
            let is = move |line: &&Drawn| if series == SEAMLESS { line.ours } else { line.series == series };
            chart.lines.iter().filter(is).flat_map(|line| &line.points).collect::<Vec<_>>()
        };
        let top = |series| points_of(series).into_iter().map(|point| point.y).max_by(f64::total_cmp);
        let top = if upwards { None } else { Some(top(PAPER)?.min(top(SEAMLESS)?)) };
        let means = |series| {
            let points = points_of(series).into_iter();
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
            scheme: chart.scheme.clone(),
            paper: means(PAPER)?,
            profile_alone: means(PROFILE_ALONE).unwrap_or_default(),
            policy_alone: means(POLICY_ALONE).unwrap_or_default(),
            ours: means(SEAMLESS)?,
        })
    }
}

fn range(mut means: Vec<f64>) -> Option<String> {
    means.sort_by(f64::total_cmp);
    let (least, most) = (digits(*means.first()?), digits(*means.last()?));
    Some(if least == most { least } else { format!("{least} to {most}") })
}
