//! Text to tokens.

/// A word of the check language.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Number(f64),
    Text(String),
    /// A name or a keyword.
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
}

/// Longer marks before those that they begin with.
const MARKS: [&str; 19] =
    ["**", "//", "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", "[", "]", ",", "%"];

/// All tokens of `text`, or what cannot be read.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let length = number_length(rest);
            tokens.push(Token::Number(rest[..length].parse().map_err(|_| format!("not a number: {rest}"))?));
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..length].to_owned()));
            length
        } else if first == '"' || first == '\'' {
            let end = rest[1..].find(first).ok_or_else(|| format!("no end of text: {rest}"))?;
            tokens.push(Token::Text(rest[1..=end].to_owned()));
            end + 2
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
            let mark = mark.ok_or_else(|| format!("cannot read: {rest}"))?;
            tokens.push(Token::Mark(mark));
            mark.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Digits, a point, an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let sign = matches!(bytes[at], b'+' | b'-') && at > 0 && matches!(bytes[at - 1], b'e' | b'E');
        if !(bytes[at].is_ascii_digit() || matches!(bytes[at], b'.' | b'e' | b'E') || sign) {
            break;
        }
        at += 1;
    }
    at
}
