use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use whimbrel_emulator::Direction;
use whimbrel_netsim::units::{duration, rate, split};
use whimbrel_netsim::{Change, InFlight, Loss, PATTERN_TEXT_MAX, Pattern, QueueLimit};

/// What a line on standard input asks for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Order {
    /// Something else from now on.
    Change(Change),
    /// A pattern from its beginning.
    Follow(Arc<Pattern>),
}

/// One line on standard input: `[forth|back] WHAT [VALUE]`.
pub(crate) fn parse(line: &str) -> anyhow::Result<(Direction, Order)> {
    let mut words = line.split_whitespace().peekable();
    let direction = match words.peek() {
        Some(&"forth") => Direction::Uplink,
        Some(&"back") => Direction::Downlink,
        _ => Direction::Both,
    };
    if direction != Direction::Both {
        words.next();
    }
    let what = words.next().context("an empty command")?;
    let mut value = || words.next().with_context(|| format!("'{what}' needs a value"));
    let change = match what {
        "cut" => Change::Down(InFlight::Lost),
        "mend" => Change::Up,
        "rate" => Change::Rate(rate(value()?).map_err(|e| anyhow!(e))?),
        "delay" => Change::Delay(duration(value()?).map_err(|e| anyhow!(e))?),
        "jitter" => Change::Jitter(duration(value()?).map_err(|e| anyhow!(e))?),
        "loss" => Change::Loss(loss(value()?).map_err(|e| anyhow!(e))?),
        "mtu" => Change::Mtu(value()?.parse().context("an MTU is a number of bytes")?),
        "queue" => Change::Queue(queue(value()?).map_err(|e| anyhow!(e))?),
        "pattern" => {
            let path: Vec<&str> = [value()?].into_iter().chain(words).collect();
            return Ok((direction, Order::Follow(pattern(&path.join(" "))?)));
        }
        _ => bail!("'{what}' is none of: cut, mend, rate, delay, jitter, loss, mtu, queue, pattern"),
    };
    match words.next() {
        Some(more) => bail!("'{more}' is too much"),
        None => Ok((direction, Order::Change(change))),
    }
}

/// `2000` packets, or `225000bytes`.
pub(crate) fn queue(text: &str) -> Result<QueueLimit, String> {
    match text.strip_suffix("bytes") {
        Some(bytes) => bytes.parse().map(QueueLimit::bytes),
        None => text.parse().map(QueueLimit::packets),
    }
    .map_err(|_| format!("'{text}' is no number of packets or, as in 225000bytes, of bytes"))
}

/// A file with a pattern.
pub(crate) fn pattern(path: &str) -> anyhow::Result<Arc<Pattern>> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| path.to_owned())?;
    file.take(PATTERN_TEXT_MAX as u64 + 1).read_to_string(&mut text).with_context(|| path.to_owned())?;
    Ok(Arc::new(Pattern::parse(&text).with_context(|| path.to_owned())?))
}

/// `1%` or `0.01`: each packet by itself.
pub(crate) fn loss(text: &str) -> Result<Loss, String> {
    let (number, unit) = split(text)?;
    let probability = match unit {
        "" => number,
        "%" => number / 100.0,
        _ => return Err(format!("'{unit}' is no unit of loss: a probability or a percentage")),
    };
    if !(0.0..=1.0).contains(&probability) {
        return Err("a probability lies between 0 and 1".to_owned());
    }
    Ok(if probability == 0.0 { Loss::None } else { Loss::Bernoulli(probability) })
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
