//! What is drawn into charts besides results: numbers that the papers' texts state, and what another simulator has measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::chart::{Chart, Drawn, Point};
use crate::scenario::DataError;

/// Whose points they are.
const NS2: &str = "ns-2";
const NS2_SAYS: &str = "Points of ns-2 are means of 10 repetitions with the lab's seeds: ns-2.35, Debian's package 2.35+dfsg-5, mended so that \
                        a source does not stall (docs/ns2.md, interop/ns2/points.py).";

/// All there is.
pub(super) struct StatedNumbers {
    numbers: Numbers,
    ns2: Ns2,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    /// By the experiment.
    scheme: BTreeMap<String, String>,
    stated: Vec<Stated>,
    zoom: Vec<Zoom>,
}

/// A number in a paper's text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    charts: Vec<String>,
    along: Along,
    /// In the unit of the chart.
    value: f64,
    /// On the line.
    words: String,
    /// Below the chart.
    says: String,
    src: String,
}

/// A side of a chart, cut to where things happen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Zoom {
    charts: Vec<String>,
    along: Along,
    from: f64,
    to: f64,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ns2 {
    points: Vec<Elsewhere>,
}

/// Points of another simulator beside a line of ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    chart: String,
    line: String,
    /// x and y in the units of the chart.
    at: Vec<[f64; 2]>,
}

/// A side of a chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Along {
    X,
    Y,
}

/// A number as it is drawn: a line across the chart.
#[derive(Serialize)]
pub(super) struct Mark {
    along: Along,
    value: f64,
    words: String,
}

impl StatedNumbers {
    /// Those that come with the program.
    ///
    /// # Errors
    /// When they are not what they should be, which a test excludes.
    pub(super) fn load() -> Result<Self, DataError> {
        let wrong = |error: toml::de::Error| DataError(format!("data/stated: {error}"));
        let numbers = toml::from_str(include_str!("../../data/stated/numbers.toml")).map_err(wrong)?;
        let ns2 = toml::from_str(include_str!("../../data/stated/ns2.toml")).map_err(wrong)?;
        Ok(Self { numbers, ns2 })
    }

    /// What the scheme of the paper is called, in this experiment.
    pub(super) fn scheme(&self, experiment: &str) -> &str {
        self.numbers.scheme.get(experiment).map_or("what the paper describes", String::as_str)
    }

    /// Puts into a chart of a paper what belongs there. Where nothing is drawn, nothing is added.
    pub(super) fn put_into(&self, chart: &mut Chart) {
        if chart.lines.is_empty() {
            return;
        }
        let is = |charts: &[String]| charts.contains(&chart.id);
        let stated: Vec<&Stated> = self.numbers.stated.iter().filter(|one| is(&one.charts)).collect();
        let mark = |one: &&Stated| Mark { along: one.along, value: one.value, words: one.words.clone() };
        chart.marks = stated.iter().map(mark).collect();
        chart.notes =
            stated.iter().map(|one| format!("{}: {} ({}).", one.words, one.says, one.src)).collect();
        let zooms: Vec<&Zoom> = self.numbers.zoom.iter().filter(|one| is(&one.charts)).collect();
        for one in zooms {
            let side = match one.along {
                Along::X => &mut chart.x,
                Along::Y => &mut chart.y,
            };
            side.shown = Some([one.from, one.to]);
            chart.notes.push(format!("{}, shown from {} to {}: {}.", side.label, one.from, one.to, one.why));
        }
        self.put_points(chart);
    }

    fn put_points(&self, chart: &mut Chart) {
        let beside: Vec<Drawn> = chart.lines.iter().filter_map(|line| self.beside(chart, line)).collect();
        if !beside.is_empty() {
            chart.notes.push(NS2_SAYS.to_owned());
        }
        chart.lines.extend(beside);
    }

    fn beside(&self, chart: &Chart, line: &Drawn) -> Option<Drawn> {
        let is = |one: &&Elsewhere| one.chart == chart.id && one.line == line.label;
        let found = self.ns2.points.iter().find(is)?;
        let points = found.at.iter().map(|&[x, y]| Point::exact(x, y)).collect();
        Some(Drawn::elsewhere(format!("{NS2}: {}", line.label), line.label.clone(), points))
    }

    /// Each chart that is named, with the line that is named in it, if one is.
    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<(&str, Option<&str>)> {
        let charts = self.numbers.stated.iter().map(|one| &one.charts);
        let charts = charts.chain(self.numbers.zoom.iter().map(|one| &one.charts)).flatten();
        let points = self.ns2.points.iter().map(|one| (one.chart.as_str(), Some(one.line.as_str())));
        charts.map(|chart| (chart.as_str(), None)).chain(points).collect()
    }
}
