//! What columns of rows mean, as the data say it: `[scenario.NAME.metrics]` for metrics, `[axis]` and the leaf of an axis for axes.

use core::fmt;

use toml::{Table, Value as Toml};

/// Letters of the longest unit of a metric: what stands before a semicolon and is longer is a part of the sentence.
const LONGEST: usize = 8;

/// The unit and the definition of an axis or a metric.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Meaning {
    /// Such as `bit/s`; empty for words, shares and numbers of things.
    pub unit: String,
    /// What it is.
    pub definition: String,
}

impl Meaning {
    /// Reads `s; mean time of a message`; without a unit there is no semicolon behind it.
    pub fn parse(text: &str) -> Self {
        let (unit, definition) =
            text.split_once("; ").filter(|(unit, _)| unit.len() <= LONGEST).unwrap_or(("", text));
        Self { unit: unit.to_owned(), definition: definition.to_owned() }
    }

    /// That of a metric or an axis of a scenario, in which everything has been [spelt out](spell_out).
    pub(crate) fn of(scenario: &Table, column: &str) -> Option<Self> {
        let find = |table: &str| scenario.get(table)?.get(column);
        if let Some(metric) = find("metrics") {
            return metric.as_str().map(Self::parse);
        }
        let word = |key: &str| find("axes")?.get(key)?.as_str();
        let text = |key: &str| word(key).unwrap_or_default().to_owned();
        find("axes").map(|_| Self { unit: text("u"), definition: text(WHAT) })
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit.as_str() {
            "" => f.write_str(&self.definition),
            unit => write!(f, "{unit}; {}", self.definition),
        }
    }
}

/// What an axis is, in its leaf.
pub(crate) const WHAT: &str = "what";

/// Puts the definition of a metric where another scenario is referred to (`as c04-base, scheme amm`), and beside the values of each axis what it
/// is, which `[axis]` says once for all scenarios.
pub(crate) fn spell_out(papers: &Table, scenario: &mut Table) {
    let elsewhere = |text: &str, metric: &str| {
        let text = text.strip_prefix("as ")?;
        let (id, more) = text.split_once(", ").map_or((text, None), |(id, more)| (id, Some(more)));
        let there = papers.get("scenario")?.get(id)?.get("metrics")?.get(metric)?.as_str()?;
        Some(more.map_or_else(|| there.to_owned(), |more| format!("{there}; {more}")))
    };
    for (metric, text) in scenario.get_mut("metrics").and_then(Toml::as_table_mut).into_iter().flatten() {
        if let Some(found) = text.as_str().and_then(|text| elsewhere(text, metric)) {
            *text = found.into();
        }
    }
    for (axis, leaf) in scenario.get_mut("axes").and_then(Toml::as_table_mut).into_iter().flatten() {
        let what = papers.get("axis").and_then(|all| all.get(axis));
        if let (Some(leaf), Some(what)) = (leaf.as_table_mut(), what) {
            leaf.insert(WHAT.to_owned(), what.clone());
        }
    }
}

#[cfg(test)]
#[path = "meaning_tests.rs"]
mod tests;
