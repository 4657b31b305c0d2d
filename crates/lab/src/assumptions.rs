//! What assumed values do to a paper's headline numbers: each is changed alone, and the number is measured again with the same seeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toml::{Table, Value as Toml};

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, Sample, Watch};
use crate::figures;
use crate::meaning::WHAT;
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::value::Value;

/// How often each is run; few suffice, since both runs of a pair have the same seed.
const REPETITIONS: i64 = 5;
/// How far a headline number moves.
pub(crate) const CHANGE: &str = "change";
/// Letters of a value that is words.
const WORDS: usize = 30;
const METRICS: [(&str, &str); 3] = [
    (CHANGE, "%; how far the headline number moves, mean over pairs of runs with equal seeds"),
    ("assumed", "the headline number with the value that is assumed everywhere else"),
    ("altered", "the headline number with the other value"),
];
const AXES: [(&str, &str); 2] = [
    ("headline", "number that the paper's conclusions rest on"),
    ("assumption", "assumed value that is changed, from what to what"),
];

/// The assumptions of a paper as an experiment.
struct Assumptions {
    name: String,
    scenario: Scenario,
    entries: Vec<Entry>,
    /// Headline numbers as assumed, by what they are and the repetition: all alternatives are held against the same.
    known: Mutex<BTreeMap<(String, u64), Option<f64>>>,
}

/// One alternative to one assumption.
#[derive(Clone)]
struct Entry {
    /// The experiment and the place of its headline number.
    headline: Headline,
    /// Such as `scenario.b08-fig7.topology.wired_delay`.
    leaf: String,
    value: Toml,
    /// What is changed, from what to what.
    label: String,
}

/// Panels, one per headline number.
const PANELS: [&str; 8] = [
    "assumptions-a",
    "assumptions-b",
    "assumptions-c",
    "assumptions-d",
    "assumptions-e",
    "assumptions-f",
    "assumptions-g",
    "assumptions-h",
];

/// A number that a paper's conclusions rest on.
#[derive(Clone)]
struct Headline {
    /// What it is.
    says: String,
    experiment: String,
    metric: String,
    at: Axes,
    /// The number is a ratio: to the metric in the cell that differs in these axes.
    over: Axes,
    /// Of the paper's repetitions, the first that is run: those in which an alternative can matter need not be the first ones.
    first: u64,
}

/// The experiment for a paper, from `data/assumptions.toml`.
///
/// # Errors
/// When the data are incomplete.
pub(crate) fn experiment(papers: &Papers, paper: &str) -> Result<Box<dyn Experiment>, DataError> {
    let table = data()?;
    let entries = entries(papers, &table, paper)?;
    let number = table.get("numbers").and_then(|numbers| numbers.get(paper)).and_then(Toml::as_integer);
    let number = number.ok_or_else(|| DataError(format!("assumptions: no number for {paper}")))?;
    Ok(Box::new(Assumptions {
        name: format!("{paper}_assumptions"),
        scenario: scenario(paper, number),
        entries,
        known: Mutex::default(),
    }))
}

fn data() -> Result<Table, DataError> {
    let parsed = include_str!("../data/assumptions.toml").parse();
    parsed.map_err(|error: toml::de::Error| DataError(format!("assumptions: {error}")))
}

fn entries(papers: &Papers, table: &Table, paper: &str) -> Result<Vec<Entry>, DataError> {
    let groups = table.get(paper).and_then(Toml::as_array).into_iter().flatten();
    let entries: Result<Vec<Vec<Entry>>, DataError> =
        groups.map(|group| alternatives(papers, group)).collect();
    Ok(entries?.into_iter().flatten().collect())
}

/// What is known of an assumed value before anything has been run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Looked {
    /// It is changed: under these names in rows, each with the headline number.
    Changed(Vec<(String, String)>),
    /// It has no influence, for this reason.
    WithoutInfluence(String),
}

/// What is done about the assumed value at a leaf such as `profile.b08.rwnd`; `None` if nothing is.
///
/// # Errors
/// When the data are incomplete.
pub(crate) fn looked_into(papers: &Papers, leaf: &str) -> Result<Option<Looked>, DataError> {
    let table = data()?;
    let mut changed = Vec::new();
    for (paper, _) in table.get("numbers").and_then(Toml::as_table).into_iter().flatten() {
        let own = entries(papers, &table, paper)?.into_iter().filter(|entry| entry.leaf == leaf);
        changed.extend(own.map(|entry| (entry.headline.says, entry.label)));
    }
    if !changed.is_empty() {
        return Ok(Some(Looked::Changed(changed)));
    }
    let reasons = table.get("without_influence").and_then(Toml::as_table);
    let of_every_scenario = |known: &str| {
        let within = leaf.strip_prefix("scenario.").and_then(|leaf| leaf.split_once('.'));
        within.is_some_and(|(_, within)| within == known || within.split('.').next() == Some(known))
    };
    let reason = reasons.into_iter().flatten().find(|(known, _)| *known == leaf || of_every_scenario(known));
    Ok(reason.and_then(|(_, why)| why.as_str()).map(|why| Looked::WithoutInfluence(why.to_owned())))
}

/// All alternatives in one group, whose headline number is the same.
fn alternatives(papers: &Papers, group: &Toml) -> Result<Vec<Entry>, DataError> {
    let text = |name: &str| {
        let text = group.get(name).and_then(Toml::as_str).map(str::to_owned);
        text.ok_or_else(|| DataError(format!("assumptions: a group without {name}")))
    };
    let axes = |name: &str| -> Axes {
        let table = group.get(name).and_then(Toml::as_table);
        let axes = table.into_iter().flatten();
        axes.filter_map(|(axis, value)| Some((axis.clone().into(), crate::scenario::value(value)?))).collect()
    };
    let headline = Headline {
        says: text("says")?,
        experiment: text("experiment")?,
        metric: text("metric")?,
        at: axes("at"),
        over: axes("over"),
        first: group.get("first").and_then(Toml::as_integer).unwrap_or_default() as u64,
    };
    let mut entries = Vec::new();
    for (leaf, values) in group.get("alternatives").and_then(Toml::as_table).into_iter().flatten() {
        // Set-ups that are not those that come with the program may lack it.
        let unsaid = Toml::from("unsaid");
        let known = papers.leaf(leaf).unwrap_or(&unsaid);
        for value in values.as_array().into_iter().flatten() {
            let label = format!("{}: {} → {}", named(leaf), spoken(known, value), spoken(value, known));
            entries.push(Entry {
                headline: headline.clone(),
                leaf: leaf.clone(),
                value: value.clone(),
                label,
            });
        }
    }
    Ok(entries)
}

/// A leaf as people say it: `wlan queue`, `tcp-tom rto min`.
fn named(leaf: &str) -> String {
    let steps: Vec<&str> = leaf.split('.').collect();
    let from = if steps.first() == Some(&"profile") { 1 } else { steps.len().saturating_sub(1) };
    steps[from..].join(" ").replace('_', " ")
}

/// A value beside another one that stands in its place; of several numbers those that are equal are left out, and of words as
/// many as a chart has room for are shown.
fn spoken(value: &Toml, other: &Toml) -> String {
    match value {
        Toml::String(text) => {
            let same = other.as_str().map_or(0, |other| words_in_common(text, other));
            let rest = text.get(same..).unwrap_or_default();
            let before = if same > 0 { "… " } else { "" };
            match rest.char_indices().nth(WORDS) {
                Some((end, _)) => format!("{before}{} …", rest[..end].trim_end()),
                None => format!("{before}{rest}"),
            }
        }
        Toml::Table(table) => {
            let differs = |key: &String, value: &Toml| other.get(key) != Some(value);
            let parts = table.iter().filter(|(key, value)| differs(key, value));
            parts.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Bytes of whole words with which both begin.
fn words_in_common(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    a.get(..same).and_then(|same| same.rfind(' ')).map_or(0, |space| space + 1)
}

fn scenario(paper: &str, number: i64) -> Scenario {
    let leaf = |value: Toml| Toml::Table(Table::from_iter([("v".to_owned(), value)]));
    let table = |entries: Vec<(String, Toml)>| Toml::Table(entries.into_iter().collect());
    let metrics = METRICS.iter().map(|(name, what)| ((*name).to_owned(), Toml::from(*what))).collect();
    let axis =
        |(name, what): &(&str, &str)| ((*name).to_owned(), table(vec![(WHAT.to_owned(), (*what).into())]));
    let top = [
        ("number".to_owned(), Toml::Integer(number)),
        ("paper".to_owned(), paper.into()),
        ("title".to_owned(), "What the assumed values do to the headline numbers".into()),
        ("figures".to_owned(), Toml::Array(vec!["assumptions".into()])),
        ("run".to_owned(), table(vec![("repetitions".to_owned(), leaf(REPETITIONS.into()))])),
        ("metrics".to_owned(), table(metrics)),
        ("axes".to_owned(), table(AXES.iter().map(axis).collect())),
    ];
    Scenario::of_table(&format!("{paper}-assumptions"), top.into_iter().collect())
}

impl Headline {
    /// The number in one repetition; `None` if it could not be measured.
    fn measure(&self, papers: &Papers, repetition: u64) -> Option<f64> {
        let experiment = figures::named(papers, std::slice::from_ref(&self.experiment)).ok()?.pop()?;
        let at = self.metric_at(&*experiment, &self.at, repetition)?;
        if self.over.is_empty() {
            return Some(at);
        }
        Some(at / self.metric_at(&*experiment, &self.other(), repetition)?)
    }

    /// The place that a ratio is to.
    fn other(&self) -> Axes {
        let differs = |axis: &Name| self.over.iter().any(|(name, _)| name == axis);
        let same = self.at.iter().filter(|(axis, _)| !differs(axis)).cloned();
        same.chain(self.over.iter().cloned()).collect()
    }

    fn metric_at(&self, experiment: &dyn Experiment, at: &Axes, repetition: u64) -> Option<f64> {
        let fits = |axes: &Axes| fits(axes, at);
        let outcome = Self::outcome_at(experiment, at, repetition, Watch::default())?;
        let found = outcome.samples.iter().filter(|sample| fits(&sample.axes));
        let mut values = found
            .flat_map(|sample| sample.metrics.iter())
            .filter(|(name, _)| *name == self.metric)
            .map(|&(_, value)| value);
        values.next()
    }

    /// The run that a number is measured in.
    fn outcome_at(experiment: &dyn Experiment, at: &Axes, repetition: u64, watch: Watch) -> Option<Outcome> {
        let is = |cell: &Cell| cell.series == crate::PAPER && fits(&cell.axes, at);
        let cell = experiment.cells().into_iter().find(is)?;
        Some(experiment.run(&cell, experiment.seed(repetition), watch))
    }
}

/// Whether a place is `at` these values, as far as it has their axes.
fn fits(axes: &Axes, at: &Axes) -> bool {
    axes.iter().all(|(axis, value)| at.iter().all(|(name, wanted)| name != axis || wanted.is_same(value)))
}

impl Assumptions {
    /// A headline number as assumed. Several threads may find it out at once, and find the same.
    fn assumed(&self, papers: &Papers, headline: &Headline, repetition: u64) -> Option<f64> {
        let key = (headline.says.clone(), repetition);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).copied();
        found.unwrap_or_else(|| {
            let assumed = headline.measure(papers, repetition);
            known().insert(key, assumed);
            assumed
        })
    }
}

impl Experiment for Assumptions {
    fn name(&self) -> &str {
        &self.name
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        AXES.iter().map(|(name, _)| (*name).into()).collect()
    }

    fn metrics(&self) -> Vec<Name> {
        METRICS.iter().map(|(name, _)| (*name).into()).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let axes = |entry: &Entry| -> Axes {
            let (headline, assumption) = (entry.headline.says.clone(), entry.label.clone());
            vec![("headline".into(), Value::Word(headline)), ("assumption".into(), Value::Word(assumption))]
        };
        self.entries.iter().map(|entry| Cell::paper(axes(entry))).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, _watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        let is = |entry: &&Entry| {
            entry.label == cell.word("assumption") && entry.headline.says == cell.word("headline")
        };
        let entry = self.entries.iter().find(is);
        let (Some(entry), Ok(papers)) = (entry, Papers::load()) else { return Outcome::of(sample, 0) };
        let repetition = seed % 1_000_000 + entry.headline.first;
        let assumed = self.assumed(&papers, &entry.headline, repetition);
        let altered = papers.with(&entry.leaf, entry.value.clone());
        let altered = altered.ok().and_then(|papers| entry.headline.measure(&papers, repetition));
        sample.put_some("assumed", assumed);
        sample.put_some("altered", altered);
        sample.put_some(
            CHANGE,
            assumed.zip(altered).and_then(|(assumed, altered)| match assumed {
                // Also where both are 0.
                _ if altered == assumed => Some(0.0),
                0.0 => None,
                _ => Some(100.0 * (altered / assumed - 1.0)),
            }),
        );
        Outcome::of(sample, 0)
    }

    fn has_network(&self) -> bool {
        false
    }

    fn plots(&self) -> Vec<Plot> {
        let mut headlines: Vec<&String> = self.entries.iter().map(|entry| &entry.headline.says).collect();
        headlines.dedup();
        let panel = |(figure, says): (&'static str, &String)| Plot {
            figure,
            title: says.clone(),
            x: Quantity::metric(CHANGE, "change (%)"),
            y: Quantity::axis("assumption", "assumed → instead"),
            lines: vec![Line {
                label: "one value changed".to_owned(),
                series: crate::PAPER.into(),
                at: vec![("headline".into(), Value::Word(says.clone()))],
            }],
        };
        PANELS.into_iter().zip(headlines).map(panel).collect()
    }
}

#[cfg(test)]
#[path = "assumptions_tests.rs"]
mod tests;
