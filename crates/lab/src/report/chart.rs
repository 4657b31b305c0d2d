//! A plot with its numbers, as the script in the page takes it.

use serde::{Serialize, Serializer};

use super::stated::Mark;
use crate::experiment::{Experiment, Name, is_ours};
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
    /// Lines at numbers that somebody states.
    pub(super) marks: Vec<Mark>,
    /// What else there is to know, as sentences.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
    /// What the paper's scheme is called.
    #[serde(skip)]
    pub(super) scheme: String,
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
    /// From where to where, if that is not for the points to say.
    pub(super) shown: Option<[f64; 2]>,
}

/// One line.
#[derive(Serialize)]
pub(super) struct Drawn {
    pub(super) label: String,
    /// Its series.
    #[serde(skip)]
    pub(super) series: Name,
    /// Whether it is Whimbrel's own policy's. What is neither explains something.
    pub(super) ours: bool,
    /// Whether it has no place on the x axis and is drawn for comparison.
    pub(super) level: bool,
    /// Whether it goes up in steps, one for each run.
    pub(super) stepped: bool,
    /// The line beside which another simulator's points are drawn, if they are.
    pub(super) beside: Option<String>,
    pub(super) points: Vec<Point>,
}

/// A point: place, half widths of the confidence intervals, number of repetitions, and the median where the mean hangs on a few of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) half_x: f64,
    pub(super) half_y: f64,
    pub(super) count: usize,
    pub(super) median: Option<f64>,
}

impl Point {
    /// A point that has no interval.
    pub(super) const fn exact(x: f64, y: f64) -> Self {
        Self { x, y, half_x: 0.0, half_y: 0.0, count: 0, median: None }
    }
}

impl Serialize for Point {
    /// As an array, because there are many. Six digits are more than a screen can show.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [x, y, half_x, half_y] = [self.x, self.y, self.half_x, self.half_y].map(six_digits);
        match self.median.map(six_digits) {
            Some(median) => (x, y, half_x, half_y, self.count, median).serialize(serializer),
            None => (x, y, half_x, half_y, self.count).serialize(serializer),
        }
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
    median: Option<f64>,
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
        let (id, title) = (plot.file_name(experiment.scenario().paper()), plot.title.clone());
        Self { id, title, x, y, lines, marks: Vec::new(), notes: Vec::new(), scheme: String::new() }
    }
}

impl Side {
    /// Of numbers that are measured.
    pub(super) fn measured(label: String, logarithmic: bool) -> Self {
        Self { label, logarithmic, swept: false, words: Vec::new(), shown: None }
    }

    /// `groups` are those that the panel's lines show.
    fn of(experiment: &dyn Experiment, quantity: &Quantity, groups: &[&Group]) -> Self {
        let label = quantity.label.to_string();
        let logarithmic = quantity.scale == Scale::Logarithmic;
        let Source::Axis(axis) = &quantity.of else {
            return Self::measured(label, logarithmic);
        };
        let mut values = experiment.scenario().axis(axis);
        for value in groups.iter().filter_map(|group| group.get(axis)) {
            if !values.iter().any(|known| known.is_same(value)) {
                values.push(value.clone());
            }
        }
        let worded = quantity.scale == Scale::Even || values.iter().any(|value| value.word().is_some());
        let words = if worded { values.iter().map(Value::to_string).collect() } else { Vec::new() };
        Self { label, logarithmic: logarithmic && words.is_empty(), swept: true, words, shown: None }
    }

    fn along(&self, quantity: &Quantity, group: &Group) -> Option<Along> {
        match &quantity.of {
            Source::Axis(axis) => self.place(quantity, axis, group),
            Source::Metric(metric) => group.metric(metric).map(|estimate| Along {
                at: estimate.mean * quantity.factor,
                half: estimate.half_width * quantity.factor.abs(),
                count: estimate.count,
                median: group.median_apart(metric).map(|median| median * quantity.factor),
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
        Some(Along { at, half: 0.0, count: 0, median: None })
    }
}

impl Line {
    /// Whether a group belongs to it.
    pub(super) fn has(&self, group: &Group) -> bool {
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
                None if x.swept => Along { at: 0.0, half: 0.0, count: 0, median: None },
                None => continue,
            };
            let count = across.count.max(up.count);
            let (half_x, half_y, median) = (across.half, up.half, across.median.or(up.median));
            points.push(Point { x: across.at, y: up.at, half_x, half_y, count, median });
        }
        if x.swept {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
        } else if y.swept {
            points.sort_by(|a, b| a.y.total_cmp(&b.y));
        }
        let (label, series, ours) = (line.label.clone(), line.series.clone(), is_ours(&line.series));
        Self { label, series, ours, level: is_level, stepped: false, beside: None, points }
    }

    /// Points of another simulator beside a line of ours.
    pub(super) fn elsewhere(label: String, beside: String, points: Vec<Point>) -> Self {
        let series = Name::default();
        Self { label, series, ours: false, level: false, stepped: false, beside: Some(beside), points }
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
