//! The numbers of a chart as a table, for those who cannot see it, or print it.

use super::chart::{Chart, Drawn, Point, Side};
use crate::claims::digits;

/// A column per line, a row per place on the axis of the sweep.
pub(super) struct Values {
    /// What is at the head of the rows.
    pub(super) place: String,
    /// What is in the cells.
    pub(super) quantity: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<(String, Vec<String>)>,
}

impl Values {
    /// `None` if the chart has no axis of the sweep on either side.
    pub(super) fn of(chart: &Chart) -> Option<Self> {
        let (place, quantity) = match (chart.x.swept, chart.y.swept) {
            (true, _) => (&chart.x, &chart.y),
            (false, true) => (&chart.y, &chart.x),
            (false, false) => return None,
        };
        let across = chart.x.swept;
        let at = |point: &Point| if across { point.x } else { point.y };
        let mut places: Vec<f64> = chart.lines.iter().flat_map(|line| line.points.iter().map(at)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let cell = |line: &Drawn, place: f64| {
            let point = line.points.iter().find(|point| at(point) == place);
            point.map(|point| mean(point, across)).unwrap_or_default()
        };
        let row = |&here: &f64| {
            (name(place, here), chart.lines.iter().map(|line| cell(line, here)).collect::<Vec<_>>())
        };
        Some(Self {
            place: place.label.clone(),
            quantity: quantity.label.clone(),
            columns: chart.lines.iter().map(|line| line.label.clone()).collect(),
            rows: places.iter().map(row).collect(),
        })
    }
}

fn name(side: &Side, at: f64) -> String {
    side.words.get(at as usize).cloned().unwrap_or_else(|| digits(at))
}

fn mean(point: &Point, across: bool) -> String {
    let (mean, half) = if across { (point.y, point.half_y) } else { (point.x, point.half_x) };
    if half > 0.0 { format!("{} ± {}", digits(mean), digits(half)) } else { digits(mean) }
}
