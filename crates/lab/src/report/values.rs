//! The numbers of a chart as a table, for those who cannot see it, or print it.

use super::chart::{Chart, Drawn, Point, Side};
use crate::claims::digits;
use crate::experiment::{Experiment, Name};
use crate::summary::Group;

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
    /// `None` if the chart has no axis of the sweep on either side. What could be measured in fewer runs than there are repetitions says so.
    pub(super) fn of(chart: &Chart, repetitions: u64) -> Option<Self> {
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
            point.map(|point| mean(point, across, repetitions)).unwrap_or_default()
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

/// Every mean of an experiment as a table: what has no chart, and what there is where nothing is swept.
pub(super) struct Means {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<(String, Vec<String>)>,
}

impl Means {
    /// A row per series and place, a column per metric.
    pub(super) fn of(experiment: &dyn Experiment, groups: &[Group], repetitions: u64) -> Self {
        let metrics = experiment.metrics();
        let row = |group: &Group| {
            let axes = group.axes.iter().map(|(axis, value)| format!("{axis} = {value}"));
            let place = core::iter::once(group.series.to_string()).chain(axes).collect::<Vec<_>>().join(", ");
            let cell = |metric: &Name| {
                group.metric(metric).map_or_else(String::new, |estimate| {
                    let median = group.median_apart(metric);
                    spoken((estimate.mean, estimate.half_width, median), estimate.count, repetitions)
                })
            };
            (place, metrics.iter().map(cell).collect())
        };
        let columns = metrics.iter().map(|metric| metric.to_string()).collect();
        Self { columns, rows: groups.iter().map(row).collect() }
    }
}

fn name(side: &Side, at: f64) -> String {
    side.words.get(at as usize).cloned().unwrap_or_else(|| digits(at))
}

fn mean(point: &Point, across: bool, repetitions: u64) -> String {
    let (mean, half) = if across { (point.y, point.half_y) } else { (point.x, point.half_x) };
    spoken((mean, half, point.median), point.count, repetitions)
}

/// A mean, half of its interval, and the median where that says something else.
fn spoken((mean, half, median): (f64, f64, Option<f64>), count: usize, repetitions: u64) -> String {
    let half = if half > 0.0 { format!(" ± {}", digits(half)) } else { String::new() };
    let few = (1..repetitions).contains(&(count as u64));
    let of = if few { format!(" ({count} of {repetitions} runs)") } else { String::new() };
    let median = median.map(|median| format!(", median {}", digits(median))).unwrap_or_default();
    format!("{}{half}{median}{of}", digits(mean))
}
