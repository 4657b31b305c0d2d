//! What somebody may have meant who misspelt a name.

/// Names that are as like as this or more may be meant (Jaro-Winkler, 1 for equal ones).
const LIKE: f64 = 0.8;

/// The one of some names that is most like a misspelt one, the first of several, as a clause (` (did you mean b08?)`); empty if none is like it.
/// A single letter that is too many, missing, another or in another place makes no other name, however short it is.
pub fn hint<N: AsRef<str>>(misspelt: &str, names: impl IntoIterator<Item = N>) -> String {
    let misspelt = misspelt.to_lowercase();
    let mut best: Option<(f64, N)> = None;
    for name in names {
        let known = name.as_ref().to_lowercase();
        let likeness = strsim::jaro_winkler(&misspelt, &known);
        let near = likeness > LIKE || strsim::osa_distance(&misspelt, &known) <= 1;
        if near && best.as_ref().is_none_or(|(most, _)| likeness > *most) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| format!(" (did you mean {}?)", name.as_ref())).unwrap_or_default()
}

#[cfg(test)]
#[path = "likeness_tests.rs"]
mod tests;
