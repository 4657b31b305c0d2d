//! Values as people say them, one beside another.

use toml::Value as Toml;

/// Letters of a value that is words.
const WORDS: usize = 30;

/// A leaf as people say it: `wired delay`, `tcp-tom rto min`, `c04-fig5 path acq`.
pub(super) fn named(leaf: &str) -> String {
    let steps: Vec<&str> = leaf.split('.').collect();
    let (of, what) = (steps.get(1).copied().unwrap_or_default(), steps.last().copied().unwrap_or_default());
    format!("{of} {}", what.replace('_', " "))
}

/// A value beside another one that stands in its place; of several numbers those that are equal are left out, and of words as
/// many as a chart has room for are shown.
pub(super) fn spoken(value: &Toml, other: &Toml) -> String {
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
