//! Values as people say them, one beside another.

use toml::Value as Toml;

/// A leaf as people say it: `wired delay`, `tcp-tom rto min`, `c04-fig5 path acq`.
pub(super) fn named(leaf: &str) -> String {
    let steps: Vec<&str> = leaf.split('.').collect();
    let (of, what) = (steps.get(1).copied().unwrap_or_default(), steps.last().copied().unwrap_or_default());
    format!("{of} {}", what.replace('_', " "))
}

/// A value beside another one that stands in its place; of several those that are equal are left out.
pub(super) fn spoken(value: &Toml, other: &Toml) -> String {
    match value {
        Toml::String(text) => text.clone(),
        Toml::Table(table) => {
            let differs = |key: &String, value: &Toml| other.get(key) != Some(value);
            let parts = table.iter().filter(|(key, value)| differs(key, value));
            parts.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
