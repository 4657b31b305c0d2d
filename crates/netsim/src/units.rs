//! Rates and times as people write them: `2.5mbit`, `30ms`.

use core::time::Duration;

/// `20mbit`, `384kbit`, `1gbit`, bit/s without a unit, or `none`.
///
/// # Errors
/// What is wrong with `text`.
pub fn rate(text: &str) -> Result<Option<u64>, String> {
    if text == "none" {
        return Ok(None);
    }
    let (number, unit) = split(text)?;
    let factor = match unit {
        "" | "bit" => 1.0,
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        _ => return Err(format!("'{unit}' is no unit of a rate: kbit, mbit, gbit or none")),
    };
    Ok(Some((number * factor) as u64))
}

/// `30ms`, `1.5s`, `200us`.
///
/// # Errors
/// What is wrong with `text`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        _ => return Err(format!("'{unit}' is no unit of time: us, ms or s")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// A decimal number and what follows it.
///
/// # Errors
/// When `text` does not begin with a number.
pub fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    number.parse().map(|number| (number, unit)).map_err(|_| format!("'{text}' does not begin with a number"))
}
