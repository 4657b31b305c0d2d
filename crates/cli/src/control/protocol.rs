//! What is said on the control socket.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use whimbrel::interfaces::{Cost, Interfaces, ReceivedPower};
use whimbrel::{AssociationView, Mobility, PathView};

use crate::network_control::OrderedMoves;
use crate::path_words::plain_state_name;

/// Raised when an answer changes its meaning. Fields may be added without.
pub(super) const VERSION: u32 = 1;

/// Bytes of a question, at most.
pub(super) const QUESTION_BYTES_MAX: usize = 1024;

/// Bytes of an answer that are read, at most: thousands of associations.
pub(super) const ANSWER_BYTES_MAX: usize = 16 << 20;

/// A question.
#[derive(Serialize, Deserialize, Debug)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub(super) enum Question {
    /// All associations with their paths.
    Paths,
}

/// The answer of one process.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct Report {
    pub(crate) version: u32,
    pub(crate) pid: u32,
    /// `send`, `recv`, …
    pub(crate) command: String,
    /// Local addresses in use.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) associations: Vec<AssociationReport>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct AssociationReport {
    /// Its name within the process.
    pub(crate) id: u64,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    /// `dynamic`, or why addresses cannot change.
    pub(crate) mobility: String,
    pub(crate) paths: Vec<PathReport>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct PathReport {
    pub(crate) id: u32,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) interface: Option<String>,
    pub(crate) signal_dbm: Option<f64>,
    pub(crate) metered: Option<bool>,
    /// What IPv4 addresses are called there, if the network translates.
    pub(crate) nat64: Option<String>,
    pub(crate) state: String,
    pub(crate) primary: bool,
    pub(crate) in_use: bool,
    /// A gateway has ordered the move to one of its addresses; otherwise it is there by the policies of both hosts.
    #[serde(default)]
    pub(crate) ordered_by_network: bool,
    pub(crate) srtt_ms: Option<f64>,
    pub(crate) rto_ms: f64,
    pub(crate) cwnd: usize,
    pub(crate) flight_size: usize,
    /// What the path can carry, by packet trains; one of an older version of this command says nothing of it.
    #[serde(default)]
    pub(crate) capacity_bits_per_second: Option<u64>,
    /// What it carries of late.
    #[serde(default)]
    pub(crate) available_bits_per_second: Option<u64>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

impl Report {
    pub(super) fn new(
        command: &str,
        addresses: Vec<SocketAddr>,
        associations: &[AssociationView],
        interfaces: &Interfaces,
        ordered: &OrderedMoves,
    ) -> Self {
        let associations = associations.iter().map(|view| AssociationReport {
            id: view.id.number(),
            local_port: view.local_port,
            remote_port: view.remote_port,
            mobility: match view.mobility {
                Mobility::Dynamic => "dynamic".into(),
                Mobility::Static(reason) => reason.to_string(),
            },
            paths: view.paths.iter().map(|path| PathReport::new(path, interfaces, ordered)).collect(),
        });
        Self {
            version: VERSION,
            pid: std::process::id(),
            command: command.into(),
            addresses,
            associations: associations.collect(),
        }
    }
}

impl PathReport {
    fn new(path: &PathView, interfaces: &Interfaces, ordered: &OrderedMoves) -> Self {
        let ends = [path.route.local.ip(), path.route.remote.ip()];
        let interface = interfaces.with_address(path.route.local.ip());
        let properties = interface.map(|(_, interface)| interface.properties).unwrap_or_default();
        Self {
            id: path.id.number(),
            local: path.route.local,
            remote: path.route.remote,
            interface: interface.map(|(name, _)| name.to_owned()),
            signal_dbm: properties.signal.map(dbm),
            metered: properties.cost.map(|cost| cost == Cost::Metered),
            nat64: properties.nat64.map(|prefix| prefix.to_string()),
            state: plain_state_name(path.state).into(),
            primary: path.primary,
            in_use: path.in_use,
            ordered_by_network: ends.into_iter().any(|end| ordered.contains(end)),
            srtt_ms: path.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
            rto_ms: path.rto.as_secs_f64() * 1e3,
            cwnd: path.cwnd,
            flight_size: path.flight_size,
            capacity_bits_per_second: path.capacity.map(|capacity| capacity.rate),
            available_bits_per_second: path.available.map(|available| available.rate),
            bytes_sent: path.counters.bytes_sent,
            bytes_received: path.counters.bytes_received,
        }
    }
}

/// To a tenth of a decibel, which is as much as any receiver knows and less than the digits that the conversion adds.
fn dbm(power: ReceivedPower) -> f64 {
    (power.dbm() * 10.0).round() / 10.0
}
