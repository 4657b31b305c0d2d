//! A plot with its numbers, as the script in the page takes it.

use serde::{Serialize, Serializer};

use crate::experiment::{Experiment, Name, PAPER, is_ours};
use crate::plot::{Line, Plot, Quantity, Scale, Source};
use crate::summary::Group;
use crate::value::Value;

/// One panel.
#[derive(Serialize)]
pub(super) struct Chart {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) x: Side,
    pub(super) y: Side,
    pub(super) lines: Vec<Drawn>,
}

/// What is along one side.
#[derive(Serialize)]
pub(super) struct Side {
    pub(super) label: String,
    logarithmic: bool,
    /// Whether it is an axis of the sweep and no metric.
    pub(super) swept: bool,
    /// The words on it; points have their numbers.
    pub(super) words: Vec<String>,
}

/// One line.
#[derive(Serialize)]
pub(super) struct Drawn {
    pub(super) label: String,
    /// Whether it is of the paper's series.
    #[serde(skip)]
    pub(super) paper: bool,
    /// Whether it is Whimbrel's own policy's. What is neither explains something.
    pub(super) ours: bool,
    /// Whether it has no place on the x axis and is drawn for comparison.
    pub(super) level: bool,
    pub(super) points: Vec<Point>,
}

/// A point: place, half widths of the confidence intervals, number of repetitions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) half_x: f64,
    pub(super) half_y: f64,
    pub(super) count: usize,
}

impl Serialize for Point {
    /// As an array, because there are many. Six digits are more than a screen can show.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [x, y, half_x, half_y] = [self.x, self.y, self.half_x, self.half_y].map(six_digits);
        (x, y, half_x, half_y, self.count).serialize(serializer)
    }
}

fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// A value along one side, with half its interval and how many repetitions had it.
#[derive(Clone, Copy)]
struct Along {
    at: f64,
    half: f64,
    count: usize,
}

impl Chart {
    /// The chart of a plot. Lines of which nothing has been measured are left out.
    pub(super) fn of(experiment: &dyn Experiment, plot: &Plot, groups: &[Group]) -> Self {
        let drawn: Vec<&Group> =
            groups.iter().filter(|group| plot.lines.iter().any(|line| line.has(group))).collect();
        let (x, y) = (Side::of(experiment, &plot.x, &drawn), Side::of(experiment, &plot.y, &drawn));
        let mut lines: Vec<Drawn> =
            plot.lines.iter().map(|line| Drawn::of(line, plot, (&x, &y), groups)).collect();
        lines.retain(|line| !line.points.is_empty());
        // Nothing stands out where all does.
        if lines.iter().all(|line| line.ours) {
            lines.iter_mut().for_each(|line| line.ours = false);
        }
        level(&mut lines);
        Self { id: plot.file_name(experiment.scenario().paper()), title: plot.title.clone(), x, y, lines }
    }
}

impl Side {
    /// `groups` are those that the panel's lines show.
    fn of(experiment: &dyn Experiment, quantity: &Quantity, groups: &[&Group]) -> Self {
        let label = quantity.label.to_string();
        let logarithmic = quantity.scale == Scale::Logarithmic;
        let Source::Axis(axis) = &quantity.of else {
            return Self { label, logarithmic, swept: false, words: Vec::new() };
        };
        let mut values = experiment.scenario().axis(axis);
        for value in groups.iter().filter_map(|group| group.get(axis)) {
            if !values.iter().any(|known| known.is_same(value)) {
                values.push(value.clone());
            }
        }
        let worded = values.iter().any(|value| value.word().is_some());
        let words = if worded { values.iter().map(Value::to_string).collect() } else { Vec::new() };
        Self { label, logarithmic: logarithmic && words.is_empty(), swept: true, words }
    }

    fn along(&self, quantity: &Quantity, group: &Group) -> Option<Along> {
        match &quantity.of {
            Source::Axis(axis) => self.place(quantity, axis, group),
            Source::Metric(metric) => group.metric(metric).map(|estimate| Along {
                at: estimate.mean * quantity.factor,
                half: estimate.half_width * quantity.factor.abs(),
                count: estimate.count,
            }),
        }
    }

    fn place(&self, quantity: &Quantity, axis: &Name, group: &Group) -> Option<Along> {
        let value = group.get(axis)?;
        let at = if self.words.is_empty() {
            value.number()? * quantity.factor
        } else {
            let word = value.to_string();
            self.words.iter().position(|known| *known == word)? as f64
        };
        Some(Along { at, half: 0.0, count: 0 })
    }
}

impl Line {
    /// Whether a group belongs to it.
    fn has(&self, group: &Group) -> bool {
        group.series == self.series
            && self.at.iter().all(|(axis, value)| group.get(axis).is_some_and(|own| own.is_same(value)))
    }
}

impl Drawn {
    fn of(line: &Line, plot: &Plot, (x, y): (&Side, &Side), groups: &[Group]) -> Self {
        let mut is_level = false;
        let mut points = Vec::new();
        for group in groups.iter().filter(|group| line.has(group)) {
            let Some(up) = y.along(&plot.y, group) else { continue };
            let across = x.along(&plot.x, group);
            is_level |= across.is_none() && x.swept;
            // A level line gets its places later, from the other lines.
            let across = match across {
                Some(across) => across,
                None if x.swept => Along { at: 0.0, half: 0.0, count: 0 },
                None => continue,
            };
            let count = across.count.max(up.count);
            points.push(Point { x: across.at, y: up.at, half_x: across.half, half_y: up.half, count });
        }
        if x.swept {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
        } else if y.swept {
            points.sort_by(|a, b| a.y.total_cmp(&b.y));
        }
        let (paper, ours) = (line.series == PAPER, is_ours(&line.series));
        Self { label: line.label.clone(), paper, ours, level: is_level, points }
    }
}

/// Draws the lines that have no place on the x axis at every place where another line has one.
fn level(lines: &mut [Drawn]) {
    let swept = lines.iter().filter(|line| !line.level).flat_map(|line| line.points.iter());
    let mut places: Vec<f64> = swept.map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if places.is_empty() {
        places.push(0.0);
    }
    for line in lines.iter_mut().filter(|line| line.level) {
        let Some(&first) = line.points.first() else { continue };
        line.points = places.iter().map(|&x| Point { x, ..first }).collect();
    }
}
