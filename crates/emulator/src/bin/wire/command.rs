use core::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use whimbrel_emulator::Direction;
use whimbrel_netsim::{Change, InFlight, Loss, QueueLimit};

/// One line on standard input: `[up-link|down-link] WHAT [VALUE]`.
pub(crate) fn parse(line: &str) -> anyhow::Result<(Direction, Change)> {
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
        "queue" => {
            Change::Queue(QueueLimit::packets(value()?.parse().context("a queue is a number of packets")?))
        }
        _ => bail!("'{what}' is none of: cut, mend, rate, delay, jitter, loss, mtu, queue"),
    };
    match words.next() {
        Some(more) => bail!("'{more}' is too much"),
        None => Ok((direction, change)),
    }
}

/// `20mbit`, `384kbit`, `1gbit`, bit/s without a unit, or `none`.
pub(crate) fn rate(text: &str) -> Result<Option<u64>, String> {
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
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        _ => return Err(format!("'{unit}' is no unit of time: us, ms or s")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
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

fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    number.parse().map(|number| (number, unit)).map_err(|_| format!("'{text}' does not begin with a number"))
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
