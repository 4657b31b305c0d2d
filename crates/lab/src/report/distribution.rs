//! All runs of those places of a panel where the mean hangs on a few of them: the share of runs that are below a value (the empirical
//! distribution function).

use super::chart::{Chart, Drawn, Point, Side};
use crate::experiment::{Experiment, Name, is_ours};
use crate::plot::{Line, Plot, Quantity, Scale, Source};
use crate::summary::Group;

/// Lines in one chart: more cannot be told apart.
const MOST: usize = 6;

/// The place of a line where mean and median are farthest apart.
struct Apart<'a> {
    line: &'a Line,
    group: &'a Group,
    /// As a share of the greater one.
    by: f64,
}

impl Chart {
    /// The distribution chart of a panel; `None` if each mean of it is typical.
    pub(super) fn distribution(experiment: &dyn Experiment, plot: &Plot, groups: &[Group]) -> Option<Self> {
        let sides = Sides::of(plot)?;
        let measured = sides.measured;
        let mut all: Vec<Apart<'_>> =
            plot.lines.iter().filter_map(|line| Apart::of(line, sides.metric, groups)).collect();
        all.sort_by(|a, b| b.by.total_cmp(&a.by));
        let concerned = all.len();
        all.truncate(MOST);
        let lines: Vec<Drawn> = all.iter().map(|one| one.drawn(&sides)).collect();
        if lines.is_empty() {
            return None;
        }
        let mut up = Side::measured("share of runs (%)".to_owned(), false);
        up.shown = Some([0.0, 100.0]);
        let which = match concerned {
            1 => "In one line above".to_owned(),
            all if all > MOST => format!("In {all} lines above, of which these {MOST} are the extreme ones,"),
            all => format!("In {all} lines above"),
        };
        let note = format!(
            "{which} there are places whose mean lies outside of the median's 95 % confidence interval, so that it hangs on a few runs. \
             For each line the place where they are farthest apart, all runs of it."
        );
        Some(Self {
            id: format!("{}-runs", plot.file_name(experiment.scenario().paper())),
            title: format!("{}: runs whose mean is not typical", plot.title),
            x: Side::measured(measured.label.to_string(), measured.scale == Scale::Logarithmic),
            y: up,
            lines,
            marks: Vec::new(),
            notes: vec![note],
            scheme: String::new(),
        })
    }
}

/// What is measured in a panel, and what is swept.
struct Sides<'a> {
    metric: &'a Name,
    measured: &'a Quantity,
    axis: &'a Name,
}

impl<'a> Sides<'a> {
    /// `None` if it is not one of each.
    fn of(plot: &'a Plot) -> Option<Self> {
        match (&plot.x.of, &plot.y.of) {
            (Source::Axis(axis), Source::Metric(metric)) => Some(Self { metric, measured: &plot.y, axis }),
            (Source::Metric(metric), Source::Axis(axis)) => Some(Self { metric, measured: &plot.x, axis }),
            _ => None,
        }
    }
}

impl<'a> Apart<'a> {
    fn of(line: &'a Line, metric: &str, groups: &'a [Group]) -> Option<Self> {
        let apart = |group: &'a Group| {
            let median = group.median_apart(metric)?;
            let mean = group.metric(metric)?.mean;
            Some(Self { line, group, by: (mean - median).abs() / mean.abs().max(median.abs()) })
        };
        let own = groups.iter().filter(|group| line.has(group));
        own.filter_map(apart).max_by(|a, b| a.by.total_cmp(&b.by))
    }

    fn drawn(&self, sides: &Sides<'_>) -> Drawn {
        let place = self.group.get(sides.axis).map(|value| format!(", {} = {value}", sides.axis));
        let at = place.unwrap_or_default();
        let (runs, measured) = (self.group.runs(sides.metric), sides.measured);
        let share = |number: usize| 100.0 * (number + 1) as f64 / runs.len() as f64;
        let steps = runs.iter().enumerate().map(|(at, run)| Point::exact(run * measured.factor, share(at)));
        let begin = runs.first().map(|run| Point::exact(run * measured.factor, 0.0));
        Drawn {
            label: format!("{}{at}", self.line.label),
            series: self.line.series.clone(),
            ours: is_ours(&self.line.series),
            level: false,
            stepped: true,
            beside: None,
            points: begin.into_iter().chain(steps).collect(),
        }
    }
}
