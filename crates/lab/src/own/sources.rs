//! Values that say where they come from: `delay = { v = 10, src = "the standard, section 3" }`, or `why` it was taken where nobody says it.
//! The world has the value alone; the report shows the rest.

use toml::{Table, Value as Toml};

/// What may stand beside a value, as in the papers' set-ups.
const BESIDE: [&str; 3] = ["src", "why", "u"];

/// Tables in which names are the user's.
const NAMED: [&str; 4] = ["host", "network", "policy", "radio"];

/// A value with where it comes from, by its place in the file.
pub(super) type Sourced = (String, Table);

/// Leaves the values alone in a file, and returns them with their sources.
pub(super) fn take(table: &mut Table) -> Result<Vec<Sourced>, String> {
    let mut sourced = Vec::new();
    for (key, value) in table {
        match value {
            // Somebody's network may be called v.
            Toml::Table(named) if NAMED.contains(&key.as_str()) => {
                for (name, value) in named {
                    take_from(&format!("{key}.{name}"), value, &mut sourced)?;
                }
            }
            value => take_from(key, value, &mut sourced)?,
        }
    }
    Ok(sourced)
}

fn take_from(place: &str, value: &mut Toml, sourced: &mut Vec<Sourced>) -> Result<(), String> {
    let below = |step: &str| format!("{place}.{step}");
    match value {
        Toml::Table(leaf) if leaf.contains_key("v") => {
            let leaf = core::mem::take(leaf);
            check(place, &leaf)?;
            *value = leaf.get("v").cloned().unwrap_or_else(|| Toml::Table(Table::new()));
            sourced.push((place.to_owned(), leaf));
            Ok(())
        }
        Toml::Table(table) => {
            table.into_iter().try_for_each(|(key, value)| take_from(&below(key), value, sourced))
        }
        Toml::Array(list) => {
            let mut all = list.iter_mut().enumerate();
            all.try_for_each(|(at, value)| take_from(&below(&at.to_string()), value, sourced))
        }
        _ => Ok(()),
    }
}

fn check(place: &str, leaf: &Table) -> Result<(), String> {
    let words = |key: &str| leaf.get(key).is_none_or(Toml::is_str);
    let known = leaf.keys().all(|key| key == "v" || BESIDE.contains(&key.as_str()));
    if known && BESIDE.into_iter().all(words) && leaf.contains_key("src") != leaf.contains_key("why") {
        return Ok(());
    }
    Err(format!(
        "{place}: beside v stand words: src, where it comes from, or why it was taken; and perhaps u, its unit"
    ))
}

/// Where a place of the file stands in a set-up, whose values are in tables: those of no table are the run's.
pub(super) fn home(place: &str) -> (&str, &str) {
    place.split_once('.').unwrap_or(("run", place))
}
