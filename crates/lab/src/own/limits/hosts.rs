//! What hosts may be, send, and do on their way.

use core::ops::RangeInclusive;

use super::{MEGABITS, MILLISECONDS, SECONDS, check_point, no_network, within};
use crate::own::correspondent::Addresses;
use crate::own::file::{File, Host, HostKind, Network};
use crate::own::motion::{Motion, Point, READING};
use crate::own::policies::{self, Chosen};
use crate::own::profile;
use crate::own::residents::address;
use crate::own::traffic::{Kind, Traffic};

/// Each takes a correspondent node and addresses.
pub(in crate::own) const MAX_HOSTS: usize = 200;
/// More messages in a second than any network here carries: each is an event in virtual time.
const MAX_MESSAGES_PER_SECOND: f64 = 1e6;
/// Messages of a run, all hosts together: what no network takes waits in memory.
const MAX_MESSAGES: f64 = 1e7;
/// Readings of signals in a run.
const MAX_READINGS: f64 = 5e5;
/// Places on the way of a host.
const MAX_PLACES: usize = 1000;
/// How often a host may cross the longer side of its area.
const MAX_CROSSINGS: f64 = 1e5;

const MESSAGE: RangeInclusive<u64> = 1..=65_536;
const FILE: RangeInclusive<u64> = 1..=10_000_000_000;
const COUNT: RangeInclusive<u64> = 1..=10_000_000;
const FRAMES: RangeInclusive<f64> = 0.001..=10_000.0;
const SPEED: RangeInclusive<f64> = 0.01..=10_000.0;

pub(super) fn check(file: &File) -> Result<(), String> {
    if file.host.len() > MAX_HOSTS {
        return Err(format!("there are {} hosts; {MAX_HOSTS} are possible", file.host.len()));
    }
    if let Some(traffic) = &file.traffic {
        check_traffic("traffic", traffic)?;
    }
    if let Some(motion) = &file.motion {
        check_motion("motion", motion)?;
    }
    let (mut messages, mut readings) = (0.0, 0.0);
    for (name, host) in file.hosts() {
        check_host(file, name, host)?;
        let traffic = file.traffic_of(host);
        let latest = traffic.and_then(|traffic| Some(traffic.start? + traffic.spread));
        if latest.is_some_and(|latest| latest > file.duration) {
            return Err("traffic begins when the experiment is over, or may: `start` and `spread`".to_owned());
        }
        messages += traffic.map_or(0.0, |traffic| messages_of(traffic, file.duration));
        let mut cells =
            file.network.iter().filter(|(name, network)| host.is_in(name) && network.cell.is_some());
        if let Some(motion) = file.motion_of(host) {
            let crossings = crossings(motion, file.duration);
            if crossings > MAX_CROSSINGS {
                let motion = table(name, "motion");
                return Err(format!(
                    "{motion}: at its speed the area is crossed {crossings:.0} times, and may be {MAX_CROSSINGS:.0} times"
                ));
            }
            readings += cells.by_ref().count() as f64 * file.duration / READING.as_secs_f64();
        }
    }
    if messages > MAX_MESSAGES {
        return Err(format!("traffic means {messages:.0} messages in a run; {MAX_MESSAGES:.0} are possible"));
    }
    if readings > MAX_READINGS {
        return Err(format!(
            "duration is too long for so many hosts and cells: their signals are read {readings:.0} times, and may be {MAX_READINGS:.0} times"
        ));
    }
    Ok(())
}

/// Messages that are made in a run.
fn messages_of(traffic: &Traffic, duration: f64) -> f64 {
    let all = traffic.interval().map_or(0.0, |interval| duration / interval);
    traffic.count.map_or(all, |count| all.min(count as f64))
}

/// The table of a host, or the file if no host is named.
fn table(name: &str, field: &str) -> String {
    if name.is_empty() { field.to_owned() } else { format!("host.{name}.{field}") }
}

fn check_host(file: &File, name: &str, host: &Host) -> Result<(), String> {
    if let Some(unknown) = host.networks.iter().flatten().find(|network| !file.network.contains_key(*network))
    {
        return Err(format!("host.{name}.networks: {}", no_network(file, unknown)));
    }
    let named = host.networks.as_deref().unwrap_or_default();
    if let Some((_, twice)) = named.iter().enumerate().find(|(at, network)| named[..*at].contains(network)) {
        return Err(format!("host.{name}.networks names {twice} twice"));
    }
    let there: Vec<_> = file.network.iter().filter(|(network, _)| host.is_in(network)).collect();
    if there.is_empty() {
        return Err(format!("host.{name}.networks names none"));
    }
    if let Some(traffic) = &host.traffic {
        check_traffic(&table(name, "traffic"), traffic)?;
    }
    if let Some(motion) = &host.motion {
        check_motion(&table(name, "motion"), motion)?;
    }
    let Some(traffic) = file.traffic_of(host) else {
        return Err(match name {
            "" => "there is no [traffic]".to_owned(),
            name => format!("there is no [host.{name}.traffic], and no [traffic] for all hosts"),
        });
    };
    if host.kind == HostKind::Tcp {
        if let Some((network, _)) = there.iter().find(|(_, network)| network.nat.is_some()) {
            return Err(format!(
                "host.{name} speaks TCP, and the NAT box of network.{network} translates SCTP in UDP alone"
            ));
        }
        return check_tcp(name, host, traffic, there.len());
    }
    check_policies(file, name, host, &there)?;
    let Some(motion) = file.motion_of(host) else {
        return match there.iter().find(|(_, network)| network.cell.is_some()) {
            Some((network, _)) => {
                Err(format!("there is no [{}], and network.{network} has a cell", table(name, "motion")))
            }
            None => Ok(()),
        };
    };
    if !there.iter().any(|(_, network)| network.is_heard_at_first(Some(motion))) {
        let [x, y] = motion.start();
        return Err(format!("{} begins at [{x}, {y}], where no network is heard", table(name, "motion")));
    }
    Ok(())
}

/// What decides for a host: one policy after the other, unless it has its own.
fn check_policies(file: &File, name: &str, host: &Host, there: &[(&String, &Network)]) -> Result<(), String> {
    let own = host.policy.as_ref().map(|policy| (policy, table(name, "policy")));
    let compared = file.policies.iter().map(|policy| (policy, "policies".to_owned()));
    for (policy, whose) in own.into_iter().chain(compared.filter(|_| host.policy.is_none())) {
        let chosen = Chosen::named(file, policy, &whose)?;
        if chosen.kind == policies::Kind::MobileIp {
            if file.correspondent.addresses != Addresses::One {
                return Err(format!(
                    "{whose}: mobile-ip needs a place where all networks meet, for its home agent; give the correspondent node one address"
                ));
            }
            if let Some((network, _)) = there.iter().find(|(_, network)| network.nat.is_some()) {
                return Err(format!(
                    "{whose}: mobile-ip cannot be had behind the NAT box of network.{network}"
                ));
            }
            continue;
        }
        let config = profile::config(file, host, name, &chosen, policy)?;
        for &(network, plan) in there {
            profile::fresh_path((network, plan), address(0, 0), &config, policy)?;
        }
    }
    Ok(())
}

fn check_tcp(name: &str, host: &Host, traffic: &Traffic, networks: usize) -> Result<(), String> {
    let wrong = [
        (networks != 1, "its `networks` must name the one it is in"),
        (host.policy.is_some(), "there is no policy for it"),
        (host.profile.is_some(), "a profile is SCTP's; take it out"),
        (host.motion.is_some(), "it stays where it is, without motion"),
        (traffic.deadline.is_some(), "a stream of bytes has no messages with a deadline"),
    ];
    match wrong.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, what)) => Err(format!("host.{name} speaks TCP: {what}")),
        None => Ok(()),
    }
}

fn check_traffic(table: &str, traffic: &Traffic) -> Result<(), String> {
    let field = |field: &str| format!("{table}.{field}");
    let sizes = if traffic.kind == Kind::File { FILE } else { MESSAGE };
    if !sizes.contains(&traffic.size) {
        let (size, most) = (traffic.size, sizes.end());
        return Err(format!("{table}.size is {size}, and must be from 1 to {most} bytes"));
    }
    let kind = traffic.kind;
    let belongs = |field: &str, there: bool, to: &[Kind], needed: bool| match (there, to.contains(&kind)) {
        (true, false) => Err(format!("{table}.{field} does not belong to {}", kind.name())),
        (false, true) if needed => Err(format!("{table}.{field} is missing: {} needs it", kind.name())),
        _ => Ok(()),
    };
    belongs("rate", traffic.rate.is_some(), &[Kind::ConstantRate], true)?;
    belongs("frames", traffic.frames.is_some(), &[Kind::Video], true)?;
    belongs("count", traffic.count.is_some(), &[Kind::Video], false)?;
    belongs("deadline", traffic.deadline.is_some(), &[Kind::ConstantRate, Kind::Video], false)?;
    within(field("rate"), traffic.rate.unwrap_or(1.0), MEGABITS, " Mbit/s")?;
    within(field("frames"), traffic.frames.unwrap_or(1.0), FRAMES, " a second")?;
    within(field("deadline"), traffic.deadline.unwrap_or(0.0), MILLISECONDS, " ms")?;
    within(field("start"), traffic.start.unwrap_or(0.0), SECONDS, " s")?;
    within(field("spread"), traffic.spread, SECONDS, " s")?;
    if traffic.spread > 0.0 && traffic.start.is_none() {
        return Err(format!("{table}.spread belongs to a start"));
    }
    if let Some(count) = traffic.count.filter(|count| !COUNT.contains(count)) {
        return Err(format!("{table}.count is {count}, and must be from 1 to {}", COUNT.end()));
    }
    let messages = traffic.interval().map_or(0.0, |interval| 1.0 / interval);
    if messages > MAX_MESSAGES_PER_SECOND {
        return Err(format!("{table}.rate means {messages:.0} messages a second; a million are possible"));
    }
    Ok(())
}

fn check_motion(table: &str, motion: &Motion) -> Result<(), String> {
    let field = |field: &str| format!("{table}.{field}");
    let points = |name: &str, points: &[Point]| {
        let each = |(at, point): (usize, &Point)| check_point(&format!("{table}.{name}.{at}"), *point);
        points.iter().enumerate().try_for_each(each)
    };
    match motion {
        Motion::Standing { at } => check_point(&field("at"), *at),
        Motion::Line { from, to, speed } => {
            check_point(&field("from"), *from)?;
            check_point(&field("to"), *to)?;
            within(field("speed"), *speed, SPEED, " m/s")
        }
        Motion::Path { points: places, speed } => {
            if !(1..=MAX_PLACES).contains(&places.len()) {
                let count = places.len();
                return Err(format!("{table}.points are {count}, and must be from 1 to {MAX_PLACES}"));
            }
            points("points", places)?;
            within(field("speed"), *speed, SPEED, " m/s")
        }
        Motion::Waypoint { area, start, speed: [slowest, fastest], pause } => {
            points("area", area)?;
            check_point(&field("start"), *start)?;
            within(field("speed.0"), *slowest, SPEED, " m/s")?;
            within(field("speed.1"), *fastest, *slowest..=*SPEED.end(), " m/s")?;
            within(field("pause"), *pause, SECONDS, " s")?;
            let [[x, y], [a, b]] = *area;
            let side = (x - a).abs().max((y - b).abs());
            if side < 1.0 {
                return Err(format!("{table}.area is {side} m long, and must be at least 1 m"));
            }
            Ok(())
        }
    }
}

/// How often a host might cross its area in this time.
fn crossings(motion: &Motion, duration: f64) -> f64 {
    let Motion::Waypoint { area: [[x, y], [a, b]], speed: [_, fastest], .. } = motion else { return 0.0 };
    duration * fastest / (x - a).abs().max((y - b).abs())
}
