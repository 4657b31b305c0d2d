//! What checks can name, and what evaluation leaves behind.

use std::collections::BTreeMap;

use super::draws::Draw;
use super::parser::Expression;
use super::results::{self, Results, Runs};
use crate::experiment::Axes;
use crate::scenario::{Papers, Scenario};
use crate::value::Value;

/// What an expression yields.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    Nothing,
    Truth(bool),
    Number(f64),
    Text(String),
    List(Vec<Item>),
}

/// Why a check yields nothing.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Failure {
    /// A result that has not been measured.
    Missing(String),
    /// The check makes no sense.
    Wrong(String),
}

pub(super) type Evaluated<T> = Result<T, Failure>;

pub(super) fn wrong<T>(what: impl Into<String>) -> Evaluated<T> {
    Err(Failure::Wrong(what.into()))
}

impl Item {
    pub(super) fn number(&self) -> Evaluated<f64> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Truth(truth) => Ok(f64::from(u8::from(*truth))),
            other => wrong(format!("{other:?} is no number")),
        }
    }

    pub(super) fn list(&self) -> Evaluated<&[Self]> {
        match self {
            Self::List(items) => Ok(items),
            other => wrong(format!("{other:?} is no list")),
        }
    }

    pub(super) fn text(&self) -> Evaluated<&str> {
        match self {
            Self::Text(text) => Ok(text),
            other => wrong(format!("{other:?} is no text")),
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Truth(truth) => *truth,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    /// What an axis has in its place.
    fn value(&self) -> Evaluated<Value> {
        match self {
            Self::Number(number) => Ok(Value::Number(*number)),
            Self::Text(text) => Ok(Value::Word(text.clone())),
            other => wrong(format!("{other:?} is on no axis")),
        }
    }

    pub(super) fn of(value: &Value) -> Self {
        value.number().map_or_else(|| Self::Text(value.to_string()), Self::Number)
    }
}

/// The comparison that decided, or came closest to it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Decisive {
    /// How far it is from failing, relative to its numbers; negative if it failed.
    pub(super) margin: f64,
    /// Such as `0.287 < 0.3 (h = wlan-umts, p = 1)`.
    pub(super) text: String,
}

/// Everything a check may look at.
pub(super) struct Environment<'a> {
    papers: &'a Papers,
    results: &'a Results,
    constants: &'a BTreeMap<String, Item>,
    scenarios: BTreeMap<String, Scenario>,
    /// The repetitions that count; all if there is none.
    draw: Option<&'a Draw>,
    /// Whether something was looked at that other repetitions could have made another.
    pub(super) varies: bool,
    /// The fewest repetitions that anything comes from of which draws can be made.
    pub(super) repetitions: Option<usize>,
    /// Names bound by loops, the innermost last.
    pub(super) bound: Vec<(String, Item)>,
    pub(super) decisive: Option<Decisive>,
    /// Where a result that was looked at comes from fewer runs than it should: the worst of them.
    pub(super) fewest: Option<Runs>,
    /// Where a result that was looked at could not be measured in all runs: the worst of them.
    pub(super) part: Option<Runs>,
}

impl<'a> Environment<'a> {
    pub(super) const fn new(
        papers: &'a Papers,
        results: &'a Results,
        constants: &'a BTreeMap<String, Item>,
    ) -> Self {
        Self {
            papers,
            results,
            constants,
            scenarios: BTreeMap::new(),
            draw: None,
            varies: false,
            repetitions: None,
            bound: Vec::new(),
            decisive: None,
            fewest: None,
            part: None,
        }
    }

    /// Whether an expression is true in a draw of the repetitions; `None` if something could be measured in none of them.
    pub(super) fn holds_in(&mut self, check: &Expression, draw: &'a Draw) -> Option<bool> {
        self.draw = Some(draw);
        self.bound.clear();
        let outcome = self.evaluate(check);
        outcome.ok().map(|item| item.is_true())
    }

    pub(super) fn name(&self, name: &str) -> Evaluated<Item> {
        let bound = self.bound.iter().rev().find(|(known, _)| known == name).map(|(_, item)| item);
        match (bound.or_else(|| self.constants.get(name)), name) {
            (Some(item), _) => Ok(item.clone()),
            (None, "True") => Ok(Item::Truth(true)),
            (None, "False") => Ok(Item::Truth(false)),
            (None, "None") => Ok(Item::Nothing),
            _ => wrong(format!("{name} is unknown")),
        }
    }

    fn scenario(&mut self, metric: &str) -> Evaluated<(&Scenario, String)> {
        let Some((id, metric)) = metric.split_once('.') else {
            return wrong(format!("{metric} is no metric"));
        };
        if !self.scenarios.contains_key(id) {
            match self.papers.scenario(id) {
                Ok(scenario) => self.scenarios.insert(id.to_owned(), scenario),
                Err(error) => return wrong(error.to_string()),
            };
        }
        Ok((&self.scenarios[id], metric.to_owned()))
    }

    /// The values of an axis in the order of the data.
    pub(super) fn axis(&mut self, metric: &str, axis: &str) -> Evaluated<Vec<Item>> {
        let (scenario, _) = self.scenario(metric)?;
        let values = scenario.axis(axis);
        if values.is_empty() {
            wrong(format!("{metric} has no axis {axis}"))
        } else {
            Ok(values.iter().map(Item::of).collect())
        }
    }

    /// Mean and half width of a metric at a place.
    pub(super) fn result(&mut self, metric: &str, at: &[(String, Item)]) -> Evaluated<(f64, f64)> {
        let results = self.results;
        let (scenario, short) = self.scenario(metric)?;
        let mut axes = Axes::new();
        for (axis, item) in at {
            let value = item.value()?;
            if !scenario.axis(axis).iter().any(|known| known.is_same(&value)) {
                return wrong(format!("{metric}: {value} is not on the axis {axis}"));
            }
            axes.push((axis.clone().into(), value));
        }
        let key = results::key(scenario, &short, &axes);
        note_fewer(&mut self.fewest, results.runs(&key));
        note_fewer(&mut self.part, results.measured(&key));
        if self.draw.is_none() {
            self.varies |= results.varies(&key);
        }
        if let Some(repetitions) = results.repetitions(&key) {
            self.repetitions = Some(self.repetitions.map_or(repetitions, |known| known.min(repetitions)));
        }
        let found = self.draw.map_or_else(|| results.get(&key), |draw| results.get_drawn(&key, draw));
        found.ok_or(Failure::Missing(key))
    }

    /// Notes a comparison of numbers, if it is the closest so far.
    pub(super) fn note(&mut self, left: f64, mark: &str, right: f64, holds: bool) {
        let size = left.abs().max(right.abs());
        let distance = if size > 0.0 { (left - right).abs() / size } else { 0.0 };
        let margin = if holds { distance } else { -distance - f64::MIN_POSITIVE };
        if self.decisive.as_ref().is_some_and(|known| known.margin <= margin) {
            return;
        }
        let place: Vec<String> =
            self.bound.iter().map(|(name, item)| format!("{name} = {}", shown(item))).collect();
        let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
        let not = if holds { "" } else { "not " };
        let (left, right) = told_apart(left, right);
        self.decisive = Some(Decisive { margin, text: format!("{not}{left} {mark} {right}{place}") });
    }
}

/// Keeps the smaller share of the two; a whole is none.
fn note_fewer(fewest: &mut Option<Runs>, runs: Option<Runs>) {
    if let Some(runs) = runs.filter(|runs| runs.are_few())
        && fewest.is_none_or(|fewest| runs.are_fewer_than(fewest))
    {
        *fewest = Some(runs);
    }
}

fn shown(item: &Item) -> String {
    match item {
        Item::Number(number) => digits(*number),
        Item::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Two numbers with as many digits as it takes to see which is the larger one, four at least.
fn told_apart(left: f64, right: f64) -> (String, String) {
    let with = |count| (rounded(left, count), rounded(right, count));
    let told = (DIGITS..=MOST_DIGITS).map(with).find(|(a, b)| a != b || left == right);
    told.unwrap_or_else(|| (left.to_string(), right.to_string()))
}

/// Digits that people read in a number.
const DIGITS: i32 = 4;
/// Digits that tell any two numbers apart.
const MOST_DIGITS: i32 = 17;

/// Four digits, as people read numbers.
pub(crate) fn digits(number: f64) -> String {
    rounded(number, DIGITS)
}

fn rounded(number: f64, count: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let whole = number.abs().log10().floor() as i32 + 1;
    if !(-2..=7).contains(&whole) {
        return format!("{number:.*e}", (count - 1).max(0) as usize);
    }
    let text = format!("{number:.*}", (count - whole).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
