//! What a scenario file may ask for: numbers of which a world can be made, and no more cells and events than anybody waits for.
//! A number out of range is said, never silently bent: a result would be that of another experiment.

mod hosts;

pub(super) use self::hosts::MAX_HOSTS;

use core::ops::RangeInclusive;

use super::file::{Event, File, Network, What};
use super::losses::LossPlan;
use super::medium;
use super::policies::Chosen;
use super::profile;
use crate::unseen::is_unseen;

/// Cells of a sweep, all policies together.
pub(super) const MAX_CELLS: usize = 10_000;
/// Access networks; each has an address 10.H.N.2 for each host.
const MAX_NETWORKS: usize = 64;
const MAX_EVENTS: usize = 1000;
/// How often an event may happen again.
const MAX_REPEATS: f64 = 100_000.0;
/// How often all events may happen to all hosts: each time is planned before the run.
const MAX_HAPPENINGS: f64 = 1e6;

const REPETITIONS: RangeInclusive<u64> = 1..=1_000_000;
const DURATION: RangeInclusive<f64> = 1.0..=86_400.0;
pub(super) const SECONDS: RangeInclusive<f64> = 0.0..=86_400.0;
const EVERY: RangeInclusive<f64> = 0.001..=86_400.0;
const MEGABITS: RangeInclusive<f64> = 0.001..=100_000.0;
pub(super) const MILLISECONDS: RangeInclusive<f64> = 0.0..=60_000.0;
pub(super) const PROBABILITY: RangeInclusive<f64> = 0.0..=1.0;
const BURST: RangeInclusive<f64> = 1.0..=1e6;
/// A mapping that is forgotten at once lets no answer in.
const IDLE: RangeInclusive<f64> = 1.0..=86_400.0;
pub(super) const DBM: RangeInclusive<f64> = -180.0..=60.0;
/// Places lie so far from the origin at most; what is farther away is heard nowhere.
const METRES: RangeInclusive<f64> = -1e6..=1e6;
const RADIUS: RangeInclusive<f64> = 1.0..=1e5;
const WATTS: RangeInclusive<f64> = 1e-6..=1e6;
/// Powers are counted in attowatts: −130 dBm is a hundred of them.
const THRESHOLD: RangeInclusive<f64> = -130.0..=0.0;

/// Bytes of the title.
const TITLE: usize = 200;

/// Bytes of a name.
const NAME: usize = 64;

/// What stands in rows, in a report and in the names of files: nothing that cannot be seen or turns the direction of text, nothing that
/// separates columns, and nothing that a spreadsheet takes for a formula.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let begins = name.chars().next().is_some_and(|first| first.is_alphanumeric() || first == '_');
    if !begins || name.chars().any(|letter| is_unseen(letter) || ",\"".contains(letter)) {
        return Err(format!(
            "{what} is called {name:?}: names begin with a letter or a digit and have no commas, quotes or control characters"
        ));
    }
    if name.len() > NAME {
        return Err(format!("{what} has a name of {} bytes; {NAME} are possible", name.len()));
    }
    Ok(())
}

/// A host's name stands in rows, from which a number would come back as another one: 007, 1.0, nan.
fn check_word(what: &str, name: &str) -> Result<(), String> {
    check_name(what, name)?;
    match name.parse::<f64>() {
        Ok(_) => Err(format!(
            "a host is called {name:?}, which is a number to whoever reads its rows; give it a word"
        )),
        Err(_) => Ok(()),
    }
}

/// Says what of the file cannot be run.
pub(super) fn check(file: &File) -> Result<(), String> {
    if !REPETITIONS.contains(&file.repetitions) {
        return Err(format!("repetitions is {}, and must be from 1 to 1000000", file.repetitions));
    }
    if file.title.chars().any(is_unseen) || file.title.len() > TITLE {
        return Err(format!("title has control characters, or more than {TITLE} bytes"));
    }
    file.network.keys().try_for_each(|name| check_name("a network", name))?;
    file.host.keys().try_for_each(|name| check_word("a host", name))?;
    within("duration", file.duration, DURATION, " s")?;
    if file.policies.is_empty() {
        return Err("policies names none".to_owned());
    }
    let again = |at: usize| file.policies[..at].contains(&file.policies[at]);
    if let Some(at) = (0..file.policies.len()).find(|at| again(*at)) {
        return Err(format!("policies names {} twice", file.policies[at]));
    }
    file.policy.keys().chain(&file.policies).try_for_each(|name| check_word("a policy", name))?;
    file.policy.keys().try_for_each(|name| Chosen::named(file, name, "policy").map(drop))?;
    file.radio.keys().try_for_each(|name| check_radio(file, name))?;
    if !(1..=MAX_NETWORKS).contains(&file.network.len()) {
        return Err(format!("there must be from 1 to {MAX_NETWORKS} networks, not {}", file.network.len()));
    }
    file.network.iter().try_for_each(|(name, network)| check_network(name, network))?;
    hosts::check(file)?;
    if file.event.len() > MAX_EVENTS {
        return Err(format!("there are {} events; {MAX_EVENTS} are possible", file.event.len()));
    }
    file.event.iter().enumerate().try_for_each(|(number, event)| check_event(file, number, event))?;
    let times =
        |event: &Event| event.every.map_or(1.0, |every| 1.0 + (file.duration - event.at).max(0.0) / every);
    let all = file.event.iter().map(times).sum::<f64>() * file.hosts().len() as f64;
    if all > MAX_HAPPENINGS {
        return Err(format!(
            "events would happen {all:.0} times to all hosts, and may {MAX_HAPPENINGS:.0} times"
        ));
    }
    Ok(())
}

fn check_network(name: &str, network: &Network) -> Result<(), String> {
    let field = |field: &str| format!("network.{name}.{field}");
    medium::check(name, network)?;
    within(field("rate"), network.nominal_rate(), MEGABITS, " Mbit/s")?;
    within(field("rate_up"), network.rate_up.unwrap_or(1.0), MEGABITS, " Mbit/s")?;
    within(field("delay"), network.delay, MILLISECONDS, " ms")?;
    within(field("jitter"), network.jitter, MILLISECONDS, " ms")?;
    network.buffer.check(&format!("network.{name}"))?;
    within(field("burst"), network.burst.unwrap_or(1.0), BURST, " packets")?;
    network.loss.check(&format!("network.{name}"), network.burst)?;
    within(field("nat"), network.nat.unwrap_or(1.0), IDLE, " s")?;
    profile::of_network(name, network)?;
    let Some(cell) = &network.cell else { return Ok(()) };
    let field = |field: &str| format!("network.{name}.cell.{field}");
    check_point(&field("at"), cell.at)?;
    match (cell.radius, cell.power) {
        (Some(radius), None) => within(field("radius"), radius, RADIUS, " m")?,
        (None, Some(power)) => within(field("power"), power, WATTS, " W")?,
        _ => return Err(format!("network.{name}.cell has either a radius or a power")),
    }
    within(field("threshold"), cell.threshold, THRESHOLD, " dBm")?;
    within(field("layer2"), cell.layer2, SECONDS, " s")?;
    within(field("address"), cell.address, SECONDS, " s")
}

fn check_radio(file: &File, name: &str) -> Result<(), String> {
    if file.radios().any(|radio| radio == name) {
        return Ok(());
    }
    Err(format!(
        "radio.{name}: no cell has it; a cell names its radio, as in cell = {{ radio = \"{name}\", … }}"
    ))
}

fn check_point(name: &str, [x, y]: [f64; 2]) -> Result<(), String> {
    within(format!("{name}.0"), x, METRES, " m")?;
    within(format!("{name}.1"), y, METRES, " m")
}

fn no_network(file: &File, name: &str) -> String {
    let known: Vec<&str> = file.network.keys().map(String::as_str).collect();
    format!("there is no network called {name}; there are: {}", known.join(", "))
}

fn check_event(file: &File, number: usize, event: &Event) -> Result<(), String> {
    let field = |field: &str| format!("event.{number}.{field}");
    let Some(network) = file.network.get(&event.network) else {
        return Err(format!("event.{number}: {}", no_network(file, &event.network)));
    };
    if network.cell.is_some() && matches!(event.what, What::Lose | What::Return | What::Warn | What::Signal) {
        let name = &event.network;
        return Err(format!("event.{number}: {name} has a cell, and what is told of it follows from motion"));
    }
    within(field("at"), event.at, 0.0..=file.duration, " s: the experiment is over then")?;
    if let Some(lasts) = event.lasts {
        within(field("for"), lasts, SECONDS, " s")?;
        if !matches!(event.what, What::Break | What::Lose) {
            return Err(format!("event.{number}: `for` belongs to `break` and `lose` alone"));
        }
    }
    if let Some(every) = event.every {
        within(field("every"), every, EVERY, " s")?;
        if let Some(lasts) = event.lasts.filter(|lasts| *lasts >= every) {
            return Err(format!(
                "event.{number} lasts {lasts} s and happens again after {every} s, before it is over; `for` must be less than `every`"
            ));
        }
        if (file.duration - event.at) / every > MAX_REPEATS {
            return Err(format!("event.{number} would happen more than {MAX_REPEATS} times"));
        }
    }
    check_value(number, event, network)
}

fn check_value(number: usize, event: &Event, network: &Network) -> Result<(), String> {
    let field = format!("event.{number}.value");
    let value = |says: &str| {
        event.value.ok_or_else(|| format!("{field} is missing: the event sets {says}; write value = …"))
    };
    match event.what {
        What::Rate if network.is_shared() => Err(format!(
            "event.{number}: the rate of {} is that of its kind, and does not change",
            event.network
        )),
        What::Rate => within(&field, value("the network's rate, in Mbit/s")?, MEGABITS, " Mbit/s"),
        What::Delay => within(&field, value("the network's delay one way, in ms")?, MILLISECONDS, " ms"),
        What::Loss if matches!(network.loss, LossPlan::Chain(_)) => Err(format!(
            "event.{number}: the losses of {} are a chain with p and r, which a mean does not say; give the network loss and burst, of which \
             an event changes the first and keeps the second",
            event.network
        )),
        What::Loss => {
            LossPlan::Mean(value("the network's loss, a probability")?).check_mean(&field, network.burst)
        }
        What::Signal => within(&field, value("the strength of the signal, in dBm")?, DBM, " dBm"),
        What::Break | What::Lose | What::Return | What::Warn if event.value.is_some() => {
            Err(format!("event.{number}: `value` belongs to `rate`, `delay`, `loss` and `signal` alone"))
        }
        What::Break | What::Lose | What::Return | What::Warn => Ok(()),
    }
}

/// Neither NaN nor an infinity is within anything.
pub(super) fn within(
    name: impl Into<String>,
    value: f64,
    range: RangeInclusive<f64>,
    unit: &str,
) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    let (name, from, to) = (name.into(), range.start(), range.end());
    Err(format!("{name} is {value:?}, and must be from {from} to {to}{unit}"))
}
