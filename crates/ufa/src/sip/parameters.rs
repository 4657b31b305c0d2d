//! Values of headers that are lists of parameters: `Name=value; Name=value`.

use core::fmt;

/// Reads parameters by their names, which are compared without case (RFC 3261 §7.3.1). Unknown ones are nobody's business; of two with the same name the
/// first counts.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a>(pub(super) &'a str);

impl Parameters<'_> {
    /// The value of a parameter, decoded.
    pub(super) fn get(self, name: &str) -> Option<String> {
        let pairs = self.0.split(';').filter_map(|pair| pair.split_once('='));
        let mut found = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
        found.next().and_then(|(_, value)| decode(value.trim()))
    }

    /// The value of a parameter that is written as its type prints it.
    pub(super) fn parse<T: core::str::FromStr>(self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}

/// Writes parameters one after the other.
pub(super) fn write(f: &mut fmt::Formatter<'_>, pairs: &[(&str, &dyn fmt::Display)]) -> fmt::Result {
    for (at, (name, value)) in pairs.iter().enumerate() {
        let separator = if at == 0 { "" } else { "; " };
        write!(f, "{separator}{name}={}", encode(&value.to_string()))?;
    }
    Ok(())
}

/// Percent-encodes all but letters, digits and what addresses are made of.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn decode(text: &str) -> Option<String> {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digits = core::str::from_utf8(tail.get(..2)?).ok()?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            out.push(first);
            rest = tail;
        }
    }
    String::from_utf8(out).ok()
}
