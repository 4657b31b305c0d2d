//! The file, with everything that may stand in it. docs/lab.md explains it to people.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value as Toml};

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
    pub(super) traffic: Traffic,
    #[serde(default)]
    pub(super) event: Vec<Event>,
    /// Axes: where in this file, and the values to put there.
    #[serde(default)]
    pub(super) sweep: BTreeMap<String, Vec<Toml>>,
}

const fn ten() -> u64 {
    10
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

/// An access network of the mobile node.
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

/// What the correspondent node sends.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub(super) enum Traffic {
    /// As much as possible, in messages of `size` bytes.
    Bulk { size: usize },
    /// `rate` Mbit/s in messages of `size` bytes.
    ConstantRate { size: usize, rate: f64 },
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
                step.parse().ok().and_then(|at: usize| list.get_mut(at)).ok_or_else(wrong)?
            }
            _ => return Err(wrong()),
        };
    }
    *place = value.clone();
    Ok(())
}
