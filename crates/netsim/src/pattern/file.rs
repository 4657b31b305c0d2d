use core::fmt;
use core::time::Duration;

use super::{Pattern, PatternError, STEPS_MAX, Setting, TEXT_MAX, Track};
use crate::units;

impl Pattern {
    /// Reads a pattern's text.
    ///
    /// # Errors
    /// The first line that cannot be understood, or a text beyond [`TEXT_MAX`] or [`STEPS_MAX`].
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let whole = |what| PatternError { line: 0, what };
        if text.len() > TEXT_MAX {
            return Err(whole(format!("a pattern has at most {TEXT_MAX} bytes")));
        }
        let mut pattern = Self::default();
        let mut steps = 0_usize;
        for (line, number) in text.lines().zip(1..) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            steps += 1;
            if steps > STEPS_MAX {
                return Err(whole(format!("a pattern has at most {STEPS_MAX} steps")));
            }
            pattern.step(&words).map_err(|what| PatternError { line: number, what })?;
        }
        pattern.packets.order("packet").and_then(|()| pattern.times.order("ms")).map_err(whole)?;
        Ok(pattern)
    }

    fn step(&mut self, words: &[&str]) -> Result<(), String> {
        let (track, least) = match words[0] {
            "packet" => (&mut self.packets, 1),
            "ms" => (&mut self.times, 0),
            other => return Err(format!("'{other}' is neither packet nor ms")),
        };
        let (first, last) = positions(words.get(1).ok_or("a position is missing")?, least)?;
        let what = *words.get(2).ok_or("what happens there is missing: drop, delay or rate")?;
        let value = || words.get(3).copied().ok_or_else(|| format!("'{what}' needs a value"));
        let setting = match what {
            "drop" => None,
            "delay" => Some(Setting::Delay(units::duration(value()?)?)),
            "rate" => Some(Setting::Rate(units::rate(value()?)?)),
            other => return Err(format!("'{other}' is none of: drop, delay, rate")),
        };
        if let Some(more) = words.get(if setting.is_some() { 4 } else { 3 }) {
            return Err(format!("'{more}' is too much"));
        }
        match setting {
            None => track.drops.push((first, last)),
            Some(_) if first != last => {
                return Err(format!("{what} holds from one position on, not in a range"));
            }
            Some(setting) => track.settings.push((first, setting)),
        }
        Ok(())
    }
}

/// `7` or `7-9`.
fn positions(text: &str, least: u64) -> Result<(u64, u64), String> {
    let number = |word: &str| {
        let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse().ok().filter(|_| plain).ok_or_else(|| format!("'{text}' is no position"))
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    if first < least {
        return Err("packets are counted from 1".to_owned());
    }
    if first > last {
        return Err(format!("'{text}' ends before it begins"));
    }
    Ok((first, last))
}

impl Track {
    /// Sorts the steps and joins what is dropped.
    fn order(&mut self, clock: &str) -> Result<(), String> {
        self.drops.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(self.drops.len());
        for &(first, last) in &self.drops {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        self.drops = joined;
        self.settings.sort_by_key(|&(position, setting)| (position, setting.name()));
        let twice = self.settings.windows(2).find(|pair| {
            let ((a, first), (b, second)) = (pair[0], pair[1]);
            a == b && first.name() == second.name()
        });
        match twice {
            Some(pair) => Err(format!("{clock} {} has two values of {}", pair[0].0, pair[0].1.name())),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Pattern {
    /// The text that [`Pattern::parse`] reads, in order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (clock, track) in [("packet", &self.packets), ("ms", &self.times)] {
            for &(first, last) in &track.drops {
                match first == last {
                    true => writeln!(f, "{clock} {first} drop")?,
                    false => writeln!(f, "{clock} {first}-{last} drop")?,
                }
            }
            for &(position, setting) in &track.settings {
                match setting {
                    Setting::Delay(delay) => writeln!(f, "{clock} {position} delay {}", Written(delay))?,
                    Setting::Rate(Some(rate)) => writeln!(f, "{clock} {position} rate {rate}bit")?,
                    Setting::Rate(None) => writeln!(f, "{clock} {position} rate none")?,
                }
            }
        }
        Ok(())
    }
}

/// A duration that reads back to itself: whole milliseconds, or a fraction of a second to the nanosecond.
struct Written(Duration);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.as_secs(), self.0.subsec_nanos());
        match seconds.checked_mul(1000) {
            Some(ms) if nanos % 1_000_000 == 0 => write!(f, "{}ms", ms + u64::from(nanos / 1_000_000)),
            _ => write!(f, "{seconds}.{nanos:09}s"),
        }
    }
}
