//! A peer's text, for people.

/// Longest text shown, characters.
const LONGEST: usize = 256;

/// A peer's text ends up on terminals and in logs: what could command those (control characters, bidirectional
/// overrides) comes out as `\u{…}`, and it has an end.
pub(crate) fn printable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut out = String::new();
    for character in text.chars().take(LONGEST) {
        match character {
            '"' | '\'' | '\\' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
#[path = "printable_tests.rs"]
mod tests;
