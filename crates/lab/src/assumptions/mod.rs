//! What the papers leave out and is assumed here: other values to try, values that were fitted, and values without influence
//! (`data/assumptions.toml`).

mod label;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value as Toml};

use crate::scenario::{DataError, Papers, Scenario};

/// The text of the data, for fingerprints.
pub(crate) const TEXT: &str = include_str!("../../data/assumptions.toml");

/// Everything that is known of assumed values.
#[derive(Clone, Debug)]
pub(crate) struct Assumptions {
    pub(crate) alternatives: Vec<Alternative>,
    file: File,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    repetitions: BTreeMap<String, u64>,
    /// By paper.
    alternatives: BTreeMap<String, Table>,
    #[serde(default)]
    joint: BTreeMap<String, Vec<Table>>,
    fitted: BTreeMap<String, String>,
    fitted_metrics: BTreeMap<String, String>,
    without_influence: BTreeMap<String, String>,
}

/// One or several assumed values with another one each in their place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Alternative {
    /// In the experiments of this paper.
    pub(crate) paper: String,
    /// What is changed, from what to what: `b08-fig7 wired delay: 0.005 → 0.01`.
    pub(crate) label: String,
    /// The leaves, such as `scenario.b08-fig7.topology.wired_delay`, and what stands there instead.
    pub(crate) changes: Vec<(String, Toml)>,
}

/// What is known of an assumed value before anything has been run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Looked {
    /// Other values are tried.
    Changed,
    /// It has no influence, for this reason.
    WithoutInfluence(String),
}

impl Alternative {
    fn of(papers: &Papers, paper: &str, changes: Vec<(String, Toml)>) -> Self {
        // Set-ups that are not those that come with the program may lack it.
        let unsaid = Toml::from("unsaid");
        let label = |(leaf, value): &(String, Toml)| {
            let assumed = papers.leaf(leaf).unwrap_or(&unsaid);
            let (from, to) = (label::spoken(assumed, value), label::spoken(value, assumed));
            format!("{}: {from} → {to}", label::named(leaf))
        };
        let label = changes.iter().map(label).collect::<Vec<_>>().join("; ");
        Self { paper: paper.to_owned(), label, changes }
    }

    /// The set-ups with these values.
    ///
    /// # Errors
    /// When there is no such leaf.
    pub(crate) fn apply(&self, papers: &Papers) -> Result<Papers, DataError> {
        let apply = |papers: Papers, (leaf, value): &(String, Toml)| papers.with(leaf, value.clone());
        self.changes.iter().try_fold(papers.clone(), apply)
    }

    /// The leaf and the number that stands there, if nothing else is changed.
    pub(crate) fn number(&self) -> Option<(&str, f64)> {
        match self.changes.as_slice() {
            [(leaf, value)] => Some((leaf, crate::scenario::number(value)?)),
            _ => None,
        }
    }

    /// Whether one of the values is a choice between which and what is assumed nothing lies: no number.
    pub(crate) fn is_choice(&self) -> bool {
        self.changes.iter().any(|(_, value)| !is_numeric(value))
    }
}

/// Whether a value is a number, or several that each are in a range.
fn is_numeric(value: &Toml) -> bool {
    match value {
        Toml::Array(values) => values.iter().all(is_numeric),
        value => crate::scenario::number(value).is_some(),
    }
}

impl Assumptions {
    /// Those that come with the program.
    ///
    /// # Errors
    /// When the data are not as they should be, which a test excludes.
    pub(crate) fn load(papers: &Papers) -> Result<Self, DataError> {
        let file: File = toml::from_str(TEXT).map_err(|error| DataError(format!("assumptions: {error}")))?;
        let mut alternatives = Vec::new();
        for (paper, leaves) in &file.alternatives {
            let single = leaves.iter().flat_map(|(leaf, values)| {
                let values = values.as_array().into_iter().flatten();
                values.map(|value| vec![(leaf.clone(), value.clone())])
            });
            let joint =
                file.joint.get(paper).into_iter().flatten().map(|table| table.clone().into_iter().collect());
            for changes in single.chain(joint) {
                alternatives.push(Alternative::of(papers, paper, changes));
            }
        }
        Ok(Self { alternatives, file })
    }

    /// How often a cell of a paper's experiment is run with each alternative.
    pub(crate) fn repetitions(&self, paper: &str, experiment: &str) -> u64 {
        let of = |name: &str| self.file.repetitions.get(name).copied();
        of(experiment).or_else(|| of(paper)).unwrap_or(1)
    }

    /// What is done about the assumed value at a leaf such as `profile.b08.rwnd`; `None` if nothing is.
    pub(crate) fn looked_into(&self, leaf: &str) -> Option<Looked> {
        let mut changed = self.file.alternatives.values().chain(self.file.joint.values().flatten());
        if changed.any(|leaves| leaves.contains_key(leaf)) {
            return Some(Looked::Changed);
        }
        let of_every_scenario = |known: &str| {
            let within = leaf.strip_prefix("scenario.").and_then(|leaf| leaf.split_once('.'));
            within.is_some_and(|(_, within)| within == known || within.split('.').next() == Some(known))
        };
        let reasons = self.file.without_influence.iter();
        let mut known = reasons.filter(|(known, _)| *known == leaf || of_every_scenario(known));
        known.next().map(|(_, why)| Looked::WithoutInfluence(why.clone()))
    }

    /// The fitted values that a set-up has, each with what it was fitted to: `wired delay: …`. What the set-up sweeps is no value of it.
    pub(crate) fn fitted(&self, papers: &Papers, scenario: &Scenario) -> Vec<String> {
        let has = |leaf: &str| {
            let mut steps = leaf.splitn(3, '.');
            let (kind, what) = (steps.next().unwrap_or_default(), steps.nth(1).unwrap_or_default());
            let id = if kind == "profile" { scenario.profile() } else { scenario.id() };
            let short = what.rsplit('.').next().unwrap_or_default();
            let is_swept = !what.starts_with("axes.") && !scenario.axis(short).is_empty();
            !is_swept && papers.home(kind, id, what).as_deref() == Some(leaf)
        };
        let fitted = self.file.fitted.iter().filter(|(leaf, _)| has(leaf));
        fitted.map(|(leaf, why)| format!("{}: {why}", label::named(leaf))).collect()
    }

    /// What a metric was fitted to, if what it measures was chosen so that sentences of the paper hold.
    pub(crate) fn fitted_metric(&self, scenario: &str, metric: &str) -> Option<String> {
        let why = self.file.fitted_metrics.get(&format!("{scenario}.{metric}"))?;
        Some(format!("{scenario} {}: {why}", metric.replace('_', " ")))
    }
}

#[cfg(test)]
#[path = "assumptions_tests.rs"]
mod tests;
