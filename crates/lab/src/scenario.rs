//! The set-ups of the papers' experiments, as data: `data/scenarios.toml`.

use serde::de::DeserializeOwned;
use toml::{Table, Value as Toml};

use crate::meaning::{self, Meaning};
use crate::value::Value;

/// Tables that a scenario merges leaf by leaf with those of the scenario it extends; others are replaced as a whole.
const MERGED: [&str; 7] = ["topology", "traffic", "parameters", "events", "mobility", "radio", "run"];

/// The text of the set-ups, for fingerprints.
pub(crate) const TEXT: &str = include_str!("../data/scenarios.toml");

/// What is wrong with the data.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct DataError(pub String);

/// Everything in `data/scenarios.toml`.
#[derive(Clone, Debug)]
pub struct Papers {
    table: Table,
}

impl Papers {
    /// The set-ups that come with the program.
    ///
    /// # Errors
    /// When the data are not TOML, which a test excludes.
    pub fn load() -> Result<Self, DataError> {
        Self::parse(TEXT)
    }

    /// Other set-ups in the same form.
    ///
    /// # Errors
    /// When they are not TOML.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        text.parse::<Table>().map(|table| Self { table }).map_err(|error| DataError(error.to_string()))
    }

    /// The same with another value at `kind.name.table.leaf` (`scenario.b08-fig7.topology.wired_delay`) or
    /// `kind.name.leaf` (`profile.b08.rwnd`).
    ///
    /// # Errors
    /// When there is no such leaf.
    pub fn with(&self, leaf: &str, value: Toml) -> Result<Self, DataError> {
        let mut papers = self.clone();
        let mut steps = leaf.split('.');
        let first = steps.next().and_then(|step| papers.table.get_mut(step));
        let found = steps.try_fold(first, |at, step| Some(at?.get_mut(step)));
        let found = found.flatten().and_then(Toml::as_table_mut).filter(|leaf| leaf.contains_key("v"));
        let found = found.ok_or_else(|| DataError(format!("there is no value at {leaf}")))?;
        found.insert("v".to_owned(), value);
        Ok(papers)
    }

    /// The value at a leaf, as in [`Papers::with`], where it stands itself and is not taken from elsewhere.
    pub fn leaf(&self, leaf: &str) -> Option<&Toml> {
        let mut steps = leaf.split('.');
        let first = self.table.get(steps.next()?)?;
        steps.try_fold(first, |at, step| at.get(step))?.get("v")
    }

    /// Where the value `what` of a scenario or profile stands, which may be one that it extends: `scenario.b08-fig7.events.duration`.
    pub fn home(&self, kind: &str, id: &str, what: &str) -> Option<String> {
        let all = self.table.get(kind).and_then(Toml::as_table)?;
        let mut id = id;
        for _ in 0..=16 {
            let leaf = format!("{kind}.{id}.{what}");
            if self.leaf(&leaf).is_some() {
                return Some(leaf);
            }
            id = all.get(id)?.get("extends")?.as_str()?;
        }
        None
    }

    /// The names of all scenarios.
    pub fn scenario_names(&self) -> Vec<&str> {
        let all = self.table.get("scenario").and_then(Toml::as_table);
        all.map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    /// A scenario with everything it takes from those it extends.
    ///
    /// # Errors
    /// When there is none of that name, or scenarios extend each other in a circle.
    pub fn scenario(&self, id: &str) -> Result<Scenario, DataError> {
        let mut table = self.resolved("scenario", id, 0)?;
        meaning::spell_out(&self.table, &mut table);
        Ok(Scenario { id: id.to_owned(), table })
    }

    /// Whether a value stands in another paper than in `paper`, which leaves it out: taking it from there is an assumption, too.
    /// A standard that everybody had is none.
    pub fn is_borrowed(&self, stated: &Stated, paper: &str) -> bool {
        let from = stated.source.split(' ').next().unwrap_or_default();
        let all = self.table.get("scenario").and_then(Toml::as_table);
        let mut papers = all.into_iter().flatten().filter_map(|(_, one)| one.get("paper")?.as_str());
        from != paper && papers.any(|known| known == from)
    }

    /// A protocol profile with everything it takes from those it extends.
    ///
    /// # Errors
    /// As [`Papers::scenario`].
    pub fn profile(&self, id: &str) -> Result<Settings, DataError> {
        self.resolved("profile", id, 0).map(Settings)
    }

    /// The values of an access network.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn network(&self, id: &str) -> Result<Settings, DataError> {
        self.resolved("network", id, 0).map(Settings)
    }

    /// The names of all access networks.
    pub fn network_names(&self) -> Vec<&str> {
        let all = self.table.get("network").and_then(Toml::as_table);
        all.map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    fn resolved(&self, kind: &str, id: &str, depth: u32) -> Result<Table, DataError> {
        let all = self.table.get(kind).and_then(Toml::as_table);
        let own = all.and_then(|all| all.get(id)).and_then(Toml::as_table);
        let own = own.ok_or_else(|| DataError(format!("there is no {kind} called {id}")))?;
        let Some(base) = own.get("extends").and_then(Toml::as_str) else { return Ok(own.clone()) };
        if depth > 16 {
            return Err(DataError(format!("{kind} {id} extends itself")));
        }
        let mut table = self.resolved(kind, base, depth + 1)?;
        for (key, value) in own {
            match (value, table.get_mut(key)) {
                (Toml::Table(new), Some(Toml::Table(old))) if MERGED.contains(&key.as_str()) => {
                    old.extend(new.clone());
                }
                _ => {
                    table.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(table)
    }
}

/// Named values, each an inline table with `v` and where it comes from.
#[derive(Clone, Debug)]
pub struct Settings(Table);

impl Settings {
    /// All of it, as TOML.
    pub fn written(&self) -> String {
        self.0.to_string()
    }

    /// The value `v` of a leaf.
    pub fn get(&self, name: &str) -> Option<&Toml> {
        self.0.get(name).and_then(|leaf| leaf.get("v"))
    }

    /// A number.
    ///
    /// # Errors
    /// When there is no number of that name.
    pub fn number(&self, name: &str) -> Result<f64, DataError> {
        let number = self.get(name).and_then(number);
        number.ok_or_else(|| DataError(format!("there is no number called {name}")))
    }

    /// A word, empty if there is none of that name.
    pub fn word(&self, name: &str) -> &str {
        self.get(name).and_then(Toml::as_str).unwrap_or_default()
    }

    /// What papers leave out and is assumed here.
    pub fn assumptions(&self) -> Vec<Assumption> {
        self.leaves().filter_map(|(name, leaf)| assumption(name.clone(), leaf)).collect()
    }

    /// What papers state.
    pub fn stated(&self) -> Vec<Stated> {
        self.leaves().filter_map(|(name, leaf)| stated(name.clone(), leaf)).collect()
    }

    fn leaves(&self) -> impl Iterator<Item = (&String, &Table)> {
        let tables = self.0.iter().filter_map(|(name, leaf)| Some((name, leaf.as_table()?)));
        tables.filter(|(_, leaf)| leaf.contains_key("v"))
    }
}

/// A figure's set-up.
#[derive(Clone, Debug)]
pub struct Scenario {
    id: String,
    table: Table,
}

/// A value that the paper leaves out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Assumption {
    /// Which, such as `topology.wired_delay`.
    pub what: String,
    /// The value taken.
    pub value: String,
    /// Why this one.
    pub why: String,
}

/// A value that the paper states.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stated {
    /// What it is a value of.
    pub what: String,
    /// The value.
    pub value: String,
    /// Where in the paper.
    pub source: String,
}

impl Scenario {
    /// A scenario of one's own.
    pub(crate) fn of_table(id: &str, table: Table) -> Self {
        Self { id: id.to_owned(), table }
    }

    /// All of it, as TOML.
    pub fn written(&self) -> String {
        self.table.to_string()
    }

    /// Its name, such as `b08-fig7`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its number, from which seeds are made.
    pub fn number(&self) -> u64 {
        self.table.get("number").and_then(Toml::as_integer).unwrap_or_default() as u64
    }

    /// The key of its paper, such as `b08`.
    pub fn paper(&self) -> &str {
        self.text("paper")
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        self.text("title")
    }

    /// The profile that its hosts run under.
    pub fn profile(&self) -> &str {
        self.text("profile")
    }

    /// How often each cell is run.
    pub fn repetitions(&self) -> u64 {
        self.setting("run.repetitions").and_then(number).map_or(1, |count| count as u64)
    }

    /// The value of `table.leaf`.
    pub fn setting(&self, path: &str) -> Option<&Toml> {
        let (table, leaf) = path.split_once('.')?;
        self.table.get(table)?.get(leaf)?.get("v")
    }

    /// The number at `table.leaf`.
    ///
    /// # Errors
    /// When there is no number there.
    pub fn number_at(&self, path: &str) -> Result<f64, DataError> {
        let number = self.setting(path).and_then(number);
        number.ok_or_else(|| DataError(format!("{} has no number {path}", self.id)))
    }

    /// The value of `table.leaf`, in whatever form.
    ///
    /// # Errors
    /// When there is none, or none of that form.
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, DataError> {
        let value =
            self.setting(path).ok_or_else(|| DataError(format!("{} has nothing at {path}", self.id)))?;
        value.clone().try_into().map_err(|error| DataError(format!("{}, {path}: {error}", self.id)))
    }

    /// The values of an axis in the paper's order, empty if there is no such axis.
    pub fn axis(&self, name: &str) -> Vec<Value> {
        let values = self.setting(&format!("axes.{name}")).and_then(Toml::as_array);
        values.into_iter().flatten().filter_map(value).collect()
    }

    /// The names of its axes.
    pub fn axis_names(&self) -> Vec<&str> {
        self.names("axes")
    }

    /// What its `[output]` says of the chart: `x`, `y`, their labels, and `series`, the axes of which each value has a line.
    pub(crate) fn output(&self, what: &str) -> String {
        let output = self.table.get("output").and_then(|output| output.get(what));
        output.and_then(Toml::as_str).unwrap_or_default().to_owned()
    }

    /// The names of its metrics.
    pub fn metric_names(&self) -> Vec<&str> {
        self.names("metrics")
    }

    /// What a metric or an axis means, if it is one of this set-up.
    pub fn meaning(&self, column: &str) -> Option<Meaning> {
        Meaning::of(&self.table, column)
    }

    /// What the paper leaves out and is assumed here.
    pub fn assumptions(&self) -> Vec<Assumption> {
        self.leaves().filter_map(|(what, leaf)| assumption(what, leaf)).collect()
    }

    /// What the paper states.
    pub fn stated(&self) -> Vec<Stated> {
        self.leaves().filter_map(|(what, leaf)| stated(what, leaf)).collect()
    }

    fn leaves(&self) -> impl Iterator<Item = (String, &Table)> {
        let tables = self.table.iter().filter_map(|(name, table)| Some((name, table.as_table()?)));
        let leaves = tables.flat_map(|(name, table)| {
            table.iter().filter_map(move |(leaf, value)| Some((format!("{name}.{leaf}"), value.as_table()?)))
        });
        leaves.filter(|(_, leaf)| leaf.contains_key("v"))
    }

    fn names(&self, table: &str) -> Vec<&str> {
        let table = self.table.get(table).and_then(Toml::as_table);
        table.map(|table| table.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    fn text(&self, key: &str) -> &str {
        self.table.get(key).and_then(Toml::as_str).unwrap_or_default()
    }
}

/// The number in a TOML value.
pub fn number(value: &Toml) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// A number or a word in a TOML value.
pub(crate) fn value(value: &Toml) -> Option<Value> {
    match value {
        Toml::Integer(whole) => Some(Value::Integer(*whole)),
        Toml::Float(number) => Some(Value::Number(*number)),
        Toml::String(word) => Some(Value::Word(word.clone())),
        _ => None,
    }
}

fn assumption(what: String, leaf: &Table) -> Option<Assumption> {
    let why = leaf.get("why").and_then(Toml::as_str)?;
    Some(Assumption { what, value: shown(leaf), why: why.to_owned() })
}

fn stated(what: String, leaf: &Table) -> Option<Stated> {
    let source = leaf.get("src").and_then(Toml::as_str)?;
    Some(Stated { what, value: shown(leaf), source: source.to_owned() })
}

/// A value as people write it, with its unit.
fn shown(leaf: &Table) -> String {
    let value = leaf.get("v").map(text).unwrap_or_default();
    match leaf.get("u").and_then(Toml::as_str) {
        Some(unit) => format!("{value} {unit}"),
        None => value,
    }
}

fn text(value: &Toml) -> String {
    match value {
        Toml::String(text) => text.clone(),
        Toml::Float(number) => number.to_string(),
        Toml::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Toml::Table(table) => {
            let entries = table.iter().map(|(key, value)| format!("{key} {}", text(value)));
            entries.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;
