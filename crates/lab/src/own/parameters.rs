//! Parameters that go by name: which there are, what each may be, and what a file says of them.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::collections::BTreeMap;

use toml::{Table, Value as Toml};

use super::limits::within;
use super::world::after;
use crate::meaning::Meaning;

/// A parameter that a file may set.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// Its unit and definition.
    pub(super) says: &'static str,
    takes: Takes,
    /// What stands for there being no such number.
    off: bool,
}

#[derive(Clone, Debug)]
enum Takes {
    Real(RangeInclusive<f64>),
    Whole(RangeInclusive<f64>),
    Word(&'static [&'static str]),
}

/// The word where a number would be.
const OFF: &str = "off";

impl Parameter {
    pub(super) const fn real(name: &'static str, says: &'static str, range: RangeInclusive<f64>) -> Self {
        Self { name, says, takes: Takes::Real(range), off: false }
    }

    pub(super) const fn whole(name: &'static str, says: &'static str, range: RangeInclusive<f64>) -> Self {
        Self { name, says, takes: Takes::Whole(range), off: false }
    }

    pub(super) const fn word(name: &'static str, says: &'static str, words: &'static [&'static str]) -> Self {
        Self { name, says, takes: Takes::Word(words), off: false }
    }

    /// It may be `off`, too.
    pub(super) const fn or_off(self) -> Self {
        let Self { name, says, takes, .. } = self;
        Self { name, says, takes, off: true }
    }

    /// Its name with its unit, for those who look for it.
    fn listed(&self) -> String {
        match Meaning::parse(self.says).unit.as_str() {
            "" => self.name.to_owned(),
            unit => format!("{} ({unit})", self.name),
        }
    }

    fn read(&self, place: &str, raw: &Toml) -> Result<Given, String> {
        let number = raw.as_float().or_else(|| raw.as_integer().map(|whole| whole as f64));
        let unit = Meaning::parse(self.says).unit;
        let unit = if unit.is_empty() { unit } else { format!(" {unit}") };
        let or_off = if self.off { ", or \"off\"" } else { "" };
        match (&self.takes, number, raw.as_str()) {
            (Takes::Real(_) | Takes::Whole(_), None, Some(OFF)) if self.off => Ok(Given::Off),
            (Takes::Real(range), Some(number), _) => {
                within(place, number, range.clone(), &format!("{unit}{or_off}"))?;
                Ok(Given::Number(number))
            }
            (Takes::Whole(range), Some(number), _) => {
                within(place, number, range.clone(), &format!("{unit}{or_off}"))?;
                if number.fract() != 0.0 {
                    return Err(format!("{place} is {number}, and must be a whole number"));
                }
                Ok(Given::Number(number))
            }
            (Takes::Word(words), _, word) => {
                let known = word.and_then(|word| words.iter().find(|known| **known == word));
                let known = known.ok_or_else(|| format!("{place} is {raw}, and may be {}", words.join(", ")));
                Ok(Given::Word(known?))
            }
            _ => Err(format!("{place} is {raw}, and must be a number{or_off}")),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Given {
    Number(f64),
    Word(&'static str),
    Off,
}

/// What a file says of parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Settings(BTreeMap<&'static str, Given>);

impl Settings {
    /// Reads a table that stands at `place` in the file and may have what `known` lists, with `whose` for the message about what is
    /// not in there. A name with dots may be spread over tables, as TOML does with `RTO.Min = 1`.
    pub(super) fn read(place: &str, whose: &str, table: &Table, known: &[Parameter]) -> Result<Self, String> {
        let mut leaves = Vec::new();
        flatten("", table, &mut leaves);
        let mut settings = BTreeMap::new();
        for (name, raw) in leaves {
            let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
                let all: Vec<String> = known.iter().map(Parameter::listed).collect();
                let has = if all.is_empty() { "it has none".to_owned() } else { all.join(", ") };
                return Err(format!("{place}: {whose} has no parameter called {name}; there are: {has}"));
            };
            let given = parameter.read(&format!("{place}.{name}"), raw)?;
            if settings.insert(parameter.name, given).is_some() {
                return Err(format!("{place} has {name} twice; write it without quotation marks"));
            }
        }
        Ok(Self(settings))
    }

    /// These, and what `over` says instead.
    pub(super) fn with(mut self, over: &Self) -> Self {
        self.0.extend(over.0.iter().map(|(name, given)| (*name, *given)));
        self
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Given::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn number_or(&self, name: &str, usual: f64) -> f64 {
        self.number(name).unwrap_or(usual)
    }

    /// A number of seconds.
    pub(super) fn seconds(&self, name: &str) -> Option<Duration> {
        self.number(name).map(after)
    }

    pub(super) fn seconds_or(&self, name: &str, usual: Duration) -> Duration {
        self.seconds(name).unwrap_or(usual)
    }

    pub(super) fn word(&self, name: &str) -> Option<&'static str> {
        match self.0.get(name) {
            Some(Given::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// A number that may be switched off, where the file says which.
    pub(super) fn optional(&self, name: &str) -> Option<Option<f64>> {
        match self.0.get(name)? {
            Given::Number(number) => Some(Some(*number)),
            Given::Off => Some(None),
            Given::Word(_) => None,
        }
    }
}

/// All that stands in a table and in the tables in it, by its names with dots between them.
fn flatten<'a>(above: &str, table: &'a Table, leaves: &mut Vec<(String, &'a Toml)>) {
    for (key, value) in table {
        let name = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Toml::Table(inner) => flatten(&name, inner, leaves),
            leaf => leaves.push((name, leaf)),
        }
    }
}
