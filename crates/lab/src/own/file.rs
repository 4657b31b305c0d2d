//! The file, with everything that may stand in it. docs/lab.md explains it to people.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value as Toml};

use super::buffer::BufferPlan;
use super::correspondent::Correspondent;
use super::limits::{MAX_HOSTS, within};
use super::losses::LossPlan;
use super::motion::{CellPlan, Motion};
use super::policies::PolicyTable;
use super::radio::{Handover, Radio};
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
    /// What is compared, by name.
    pub(super) policies: Vec<String>,
    /// Policies with other parameters than usual.
    #[serde(default)]
    pub(super) policy: BTreeMap<String, PolicyTable>,
    /// What all SCTP hosts have other than usual.
    pub(super) profile: Option<Table>,
    pub(super) network: BTreeMap<String, Network>,
    /// What is heard by one radio, as cells name it.
    #[serde(default)]
    pub(super) radio: BTreeMap<String, Radio>,
    /// Of each host that has none of its own.
    pub(super) traffic: Option<Traffic>,
    /// Of each host that has none of its own.
    pub(super) motion: Option<Motion>,
    /// Who they talk to.
    #[serde(default)]
    pub(super) correspondent: Correspondent,
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

    /// Puts hosts with numbers behind their names in the place of those that are several.
    ///
    /// # Errors
    /// That there are too many.
    pub(super) fn multiply(&mut self) -> Result<(), String> {
        let several: Vec<(String, u32)> =
            self.host.iter().filter_map(|(name, host)| Some((name.clone(), host.count?))).collect();
        for (name, count) in several {
            within(format!("host.{name}.count"), count.into(), 1.0..=MAX_HOSTS as f64, "")?;
            let Some(host) = self.host.remove(&name) else { continue };
            let digits = count.to_string().len();
            for number in 1..=count {
                let own = Host { count: None, ..host.clone() };
                if self.host.insert(format!("{name}-{number:0digits$}"), own).is_some() {
                    return Err(format!(
                        "host.{name}.count: there is a host called {name}-{number:0digits$}"
                    ));
                }
            }
        }
        Ok(())
    }

    pub(super) fn traffic_of<'a>(&'a self, host: &'a Host) -> Option<&'a Traffic> {
        host.traffic.as_ref().or(self.traffic.as_ref())
    }

    /// What the radio of this name does about a second cell. One that cells alone name is as radios are unless told otherwise.
    pub(super) fn handover(&self, radio: &str) -> Handover {
        self.radio.get(radio).copied().unwrap_or_default().handover
    }

    /// Whether a radio hears several cells, one at a time; of one cell there is no handover.
    pub(super) fn has_hard_handovers(&self) -> bool {
        self.radios().any(|radio| self.is_hard(radio))
    }

    /// Whether there are such a radio and networks that it does not hear.
    pub(super) fn has_more_than_a_hard_radio(&self) -> bool {
        self.radios().any(|radio| self.is_hard(radio) && self.heard_by(radio) < self.network.len())
    }

    fn is_hard(&self, radio: &str) -> bool {
        self.handover(radio) == Handover::Hard && self.heard_by(radio) > 1
    }

    fn heard_by(&self, radio: &str) -> usize {
        self.radios().filter(|name| *name == radio).count()
    }

    /// The radio of each network that has one.
    pub(super) fn radios(&self) -> impl Iterator<Item = &str> {
        self.network.values().filter_map(|network| network.cell.as_ref()?.radio.as_deref())
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
    /// Whether who moves like this hears it when it begins.
    pub(super) fn is_heard_at_first(&self, motion: Option<&Motion>) -> bool {
        self.cell.as_ref().zip(motion).is_none_or(|(cell, motion)| cell.is_heard(motion.start()))
    }
}

/// A host in the access networks; each has a correspondent node of its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    #[serde(default)]
    pub(super) kind: HostKind,
    /// So many that are alike, each with its number behind its name.
    pub(super) count: Option<u32>,
    /// Where it has an interface; everywhere unless given.
    pub(super) networks: Option<Vec<String>>,
    /// What decides for it, whatever is compared.
    pub(super) policy: Option<String>,
    /// What it has other than usual, and its correspondent node.
    pub(super) profile: Option<Table>,
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
    /// Mbit/s to the mobile node; of a medium that hosts share it is known.
    pub(super) rate: Option<f64>,
    /// Mbit/s from it, as `rate` unless given.
    pub(super) rate_up: Option<f64>,
    /// Milliseconds one way.
    pub(super) delay: f64,
    /// Up to so many more milliseconds.
    #[serde(default)]
    pub(super) jitter: f64,
    #[serde(default)]
    pub(super) buffer: BufferPlan,
    #[serde(default)]
    pub(super) loss: LossPlan,
    /// Mean number of packets that are lost one after the other; independently of each other unless given.
    pub(super) burst: Option<f64>,
    /// Seconds after which the NAT box in front of it forgets who has been silent; there is none unless given.
    pub(super) nat: Option<f64>,
    /// What paths over it begin with.
    pub(super) profile: Option<Table>,
    /// `wired`, `wlan`, `cellular`, `other`, or a medium that hosts share: `802.11a`, `802.11b`, `umts`.
    pub(super) kind: Kind,
    /// The user's order of preference; 0 is the best.
    #[serde(default)]
    pub(super) rank: u8,
    #[serde(default)]
    pub(super) metered: bool,
    #[serde(default)]
    pub(super) queue: QueueName,
    /// Frames of a cell of 802.11 longer than so many bytes are announced by RTS and CTS; 400 unless given.
    pub(super) rts: Option<u32>,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Wired,
    Wlan,
    Cellular,
    Other,
    /// A cell of IEEE 802.11a under the distributed coordination function.
    #[serde(rename = "802.11a")]
    Dot11a,
    /// A cell of IEEE 802.11b under the distributed coordination function.
    #[serde(rename = "802.11b")]
    Dot11b,
    /// A common channel of UMTS in each direction.
    Umts,
}

/// Something that happens to a network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    /// Seconds after the start.
    pub(super) at: f64,
    pub(super) network: String,
    pub(super) what: What,
    /// For `rate` Mbit/s, for `delay` ms, for `loss` a probability, for `signal` dBm; nothing else has one.
    pub(super) value: Option<f64>,
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

/// The file with `value` at `path`, such as `network.wifi.loss` or `event.0.at`. Tables with names of the user's have to be there;
/// of what they may have without being told, such as a profile, there may be nothing yet.
pub(super) fn put(file: &mut Toml, path: &str, value: &Toml) -> Result<(), DataError> {
    let steps: Vec<&str> = path.split('.').collect();
    let may_be_new = |depth: usize| match steps[0] {
        _ if depth + 1 == steps.len() => depth > 0,
        "correspondent" | "policy" | "profile" | "radio" => true,
        "host" | "network" => depth > 1 && steps[2] == "profile",
        _ => steps[depth] == "profile",
    };
    let mut place = file;
    for (depth, &step) in steps.iter().enumerate() {
        let (there, so_far) = (parts(place), steps[..depth].join("."));
        let nothing = || nothing_at(path, &so_far, &there);
        place = match place {
            Toml::Table(table) => {
                if may_be_new(depth) && !table.contains_key(step) {
                    table.insert(step.to_owned(), Toml::Table(Table::new()));
                }
                table.get_mut(step).ok_or_else(nothing)?
            }
            Toml::Array(list) => element(list, step).ok_or_else(nothing)?,
            _ => return Err(nothing()),
        };
    }
    *place = value.clone();
    Ok(())
}

/// That a path leads nowhere, with what there is where it leaves the file.
fn nothing_at(path: &str, so_far: &str, there: &[String]) -> DataError {
    let place = if so_far.is_empty() { "the file" } else { so_far };
    let there = match there {
        [] => format!("{place} has no parts"),
        there => format!("in {place} there are: {}", there.join(", ")),
    };
    DataError(format!("sweep: there is nothing at {path}; {there}"))
}

/// What may be the next step of a path.
fn parts(place: &Toml) -> Vec<String> {
    match place {
        Toml::Table(table) => table.keys().cloned().collect(),
        Toml::Array(list) => (0..list.len()).map(|at| at.to_string()).collect(),
        _ => Vec::new(),
    }
}

/// An element by its number; one place has one name.
fn element<'a>(list: &'a mut [Toml], step: &str) -> Option<&'a mut Toml> {
    let at = step.parse().ok().filter(|at: &usize| at.to_string() == step)?;
    list.get_mut(at)
}
