//! The axes of a scenario file: what takes several values, and which.

use std::collections::BTreeMap;

use toml::Value as Toml;

use super::limits::{MAX_CELLS, check_name};
use crate::value::Value;

/// What may be swept; the rest of the file says how the experiment is run, not what happens in it.
const SWEPT: [&str; 10] = [
    "correspondent",
    "duration",
    "event",
    "host",
    "motion",
    "network",
    "policy",
    "profile",
    "radio",
    "traffic",
];

/// Steps that a path may have; the longest there are have five (`policy.NAME.profile.Initial.Window`). Each is a table in the one before, and
/// what is nested thousands deep overflows the stack of who reads it.
const MAX_STEPS: usize = 8;

/// A place in the file and the values to put there.
pub(super) struct Axis {
    pub(super) path: String,
    /// Each value as results name it, and as the file has it.
    pub(super) values: Vec<(Value, Toml)>,
}

impl Axis {
    /// Whether it can be laid out along a side of a chart.
    pub(super) fn is_numeric(&self) -> bool {
        self.values.iter().all(|(value, _)| value.number().is_some())
    }
}

/// Reads `[sweep]` of a file that has so many policies.
pub(super) fn axes(sweep: &BTreeMap<String, Vec<Toml>>, policies: usize) -> Result<Vec<Axis>, String> {
    let mut axes = Vec::new();
    let mut cells = policies;
    for (path, values) in sweep {
        if !SWEPT.contains(&path.split('.').next().unwrap_or_default()) {
            return Err(format!("sweep: {path} cannot be swept; {} can", SWEPT.join(", ")));
        }
        if path.split('.').count() > MAX_STEPS {
            let begins: String = path.chars().take(40).collect();
            return Err(format!(
                "sweep: {begins}… has more than {MAX_STEPS} steps, and no place in a file has"
            ));
        }
        let above = |other: &&String| path.strip_prefix(*other).is_some_and(|rest| rest.starts_with('.'));
        if let Some(other) = sweep.keys().find(above) {
            return Err(format!("sweep: {path} is a part of {other}"));
        }
        if values.is_empty() {
            return Err(format!("sweep: {path} has no values"));
        }
        cells = cells.saturating_mul(values.len());
        if cells > MAX_CELLS {
            return Err(format!("sweep: there are more than {MAX_CELLS} combinations"));
        }
        let mut axis = Axis { path: path.clone(), values: Vec::new() };
        for raw in values {
            let value = named(raw).ok_or_else(|| no_name(path, raw))?;
            if axis.values.iter().any(|(known, _)| known.is_same(&value)) {
                return Err(format!("sweep: {path} has {value} twice"));
            }
            if let Some(word) = value.word() {
                check_name(&format!("a value of {path} in sweep"), word)?;
            }
            axis.values.push((value, raw.clone()));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// That a value has no name in a table; what is in it has.
fn no_name(path: &str, raw: &Toml) -> String {
    let keys = raw.as_table().into_iter().flatten().map(|(key, _)| format!("{path}.{key}"));
    let keys: Vec<String> = keys.collect();
    if keys.is_empty() {
        return format!("sweep: {path} cannot be {raw}");
    }
    let keys = keys.join(" and ");
    format!("sweep: {path} cannot be a table; write one where {path} stands in the file, and sweep {keys}")
}

/// A value as results name it; nothing for what has no name in a table.
fn named(raw: &Toml) -> Option<Value> {
    match raw {
        Toml::Integer(whole) => Some(Value::Integer(*whole)),
        Toml::Float(number) if number.is_finite() => Some(Value::Number(*number)),
        Toml::String(word) => Some(Value::Word(word.clone())),
        Toml::Boolean(whether) => Some(Value::Word(whether.to_string())),
        _ => None,
    }
}
