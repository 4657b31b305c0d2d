//! The file, with everything that may stand in it. docs/lab.md explains it to people.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value as Toml};

use super::motion::{CellPlan, Motion};
use super::traffic::Traffic;
use crate::scenario::DataError;

/// A scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) title: String,
    #[serde(default = "ten")]
    pub(super) repetitions: u64,
    /// Seconds of traffic.
    pub(super) duration: f64,
    /// What is compared.
    pub(super) policies: Vec<PolicyName>,
    pub(super) network: BTreeMap<String, Network>,
    /// Of each host that has none of its own.
    pub(super) traffic: Option<Traffic>,
    /// Of each host that has none of its own.
    pub(super) motion: Option<Motion>,
    /// Without any there is one mobile node.
    #[serde(default)]
    pub(super) host: BTreeMap<String, Host>,
    /// The host there is if none is named.
    #[serde(skip)]
    alone: Host,
    #[serde(default)]
    pub(super) event: Vec<Event>,
    /// Axes: where in this file, and the values to put there.
    #[serde(default)]
    pub(super) sweep: BTreeMap<String, Vec<Toml>>,
}

const fn ten() -> u64 {
    10
}

impl File {
    /// All hosts with their names, or the one that has none.
    pub(super) fn hosts(&self) -> Vec<(&str, &Host)> {
        if self.host.is_empty() {
            return vec![("", &self.alone)];
        }
        self.host.iter().map(|(name, host)| (&**name, host)).collect()
    }

    pub(super) fn traffic_of<'a>(&'a self, host: &'a Host) -> Option<&'a Traffic> {
        host.traffic.as_ref().or(self.traffic.as_ref())
    }

    /// How a host moves; one that speaks TCP stays.
    pub(super) fn motion_of<'a>(&'a self, host: &'a Host) -> Option<&'a Motion> {
        let motion = host.motion.as_ref().or(self.motion.as_ref());
        motion.filter(|_| host.kind == HostKind::Mobile)
    }
}

impl Host {
    /// Whether it has an interface in a network.
    pub(super) fn is_in(&self, network: &str) -> bool {
        self.networks.as_ref().is_none_or(|own| own.iter().any(|name| name == network))
    }
}

impl Network {
    /// Whether who moves like this is heard there when it begins.
    pub(super) fn is_heard_at_first(&self, motion: Option<&Motion>) -> bool {
        self.cell.as_ref().zip(motion).is_none_or(|(cell, motion)| cell.is_heard(motion.start()))
    }
}

/// What decides when and where to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PolicyName {
    /// `Config::mobile()` and the policy that users have.
    Seamless,
    /// `Config::mobile()`, away from what has failed.
    Failover,
    /// `Config::mobile()`, to the fastest network.
    FastestNetwork,
    /// `Config::rfc()`: timers alone.
    Rfc,
}

impl PolicyName {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Seamless => "seamless",
            Self::Failover => "failover",
            Self::FastestNetwork => "fastest-network",
            Self::Rfc => "rfc",
        }
    }
}

/// A host in the access networks; each has a correspondent node of its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    #[serde(default)]
    pub(super) kind: HostKind,
    /// Where it has an interface; everywhere unless given.
    pub(super) networks: Option<Vec<String>>,
    /// What decides for it, whatever is compared.
    pub(super) policy: Option<PolicyName>,
    pub(super) traffic: Option<Traffic>,
    pub(super) motion: Option<Motion>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HostKind {
    /// SCTP with a policy.
    #[default]
    Mobile,
    /// TCP, which stays in one network.
    Tcp,
}

/// An access network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Network {
    /// Mbit/s to the mobile node.
    pub(super) rate: f64,
    /// Mbit/s from it, as `rate` unless given.
    pub(super) rate_up: Option<f64>,
    /// Milliseconds one way.
    pub(super) delay: f64,
    /// Up to so many more milliseconds.
    #[serde(default)]
    pub(super) jitter: f64,
    /// Milliseconds of traffic at the full rate that wait at most.
    #[serde(default = "hundred")]
    pub(super) buffer: f64,
    /// Probability that a packet is lost.
    #[serde(default)]
    pub(super) loss: f64,
    /// `wired`, `wlan`, `cellular` or `other`.
    pub(super) kind: Kind,
    /// The user's order of preference; 0 is the best.
    #[serde(default)]
    pub(super) rank: u8,
    #[serde(default)]
    pub(super) metered: bool,
    #[serde(default)]
    pub(super) queue: QueueName,
    /// Where it is heard; everywhere unless given.
    pub(super) cell: Option<CellPlan>,
}

/// How the packets of several flows wait for the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QueueName {
    #[default]
    DropTail,
    PerFlow,
}

const fn hundred() -> f64 {
    100.0
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Wired,
    Wlan,
    Cellular,
    Other,
}

/// Something that happens to a network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    /// Seconds after the start.
    pub(super) at: f64,
    pub(super) network: String,
    pub(super) what: What,
    /// For `rate` Mbit/s, for `delay` ms, for `loss` a probability, for `signal` dBm.
    #[serde(default)]
    pub(super) value: f64,
    /// It happens again after so many seconds, and so on.
    pub(super) every: Option<f64>,
    /// A `break` or `lose` ends after so many seconds.
    #[serde(rename = "for")]
    pub(super) lasts: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum What {
    /// Carries nothing any more, and nobody is told.
    Break,
    /// The same, and the mobile node sees that the carrier is gone.
    Lose,
    /// Carries packets again; the mobile node is told if it was told of the loss.
    Return,
    /// The layer below says that the network will soon be gone.
    Warn,
    Rate,
    Delay,
    Loss,
    Signal,
}

/// The file with `value` at `path`, such as `network.wifi.loss` or `event.0.at`.
pub(super) fn put(table: &mut Table, path: &str, value: &Toml) -> Result<(), DataError> {
    let wrong = || DataError(format!("sweep: there is nothing at {path}"));
    let mut steps = path.split('.');
    let first = table.get_mut(steps.next().unwrap_or_default()).ok_or_else(wrong)?;
    let mut place = first;
    for step in steps {
        place = match place {
            Toml::Table(table) => table.entry(step).or_insert_with(|| value.clone()),
            Toml::Array(list) => {
                // One place has one name.
                let at = step.parse().ok().filter(|at: &usize| at.to_string() == step);
                at.and_then(|at| list.get_mut(at)).ok_or_else(wrong)?
            }
            _ => return Err(wrong()),
        };
    }
    *place = value.clone();
    Ok(())
}
