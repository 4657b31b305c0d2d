//! What paper e13 says of the protocol's values, and what the lab assumes where it says nothing: profile `e13` in
//! `crates/lab/data/scenarios.toml`, value for value.

use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use whimbrel::Config;
use whimbrel::proto::{
    AssociationFailure, BurstLimit, HeartbeatConfig, InitialWindow, LossDetection, PmtuConfig, PmtuSearch,
    PrimaryChangeRule, RetransmissionOrder, RetransmissionPath, RtoConfig,
};

/// Bytes of an SCTP packet in an IPv4 packet of 1500 bytes.
const PACKET: usize = 1500 - 20;
/// Bytes of the window that the paper calls not restricting. It says 50 kB, which restrict on the network of low capacity.
const NOT_RESTRICTING: usize = 100_000;
/// Bytes of the receive window.
const RECEIVE_WINDOW: usize = 10_000_000;

/// The initial congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Window {
    Packets(u32),
    NotRestricting,
}

impl FromStr for Window {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text {
            "NR" => Ok(Self::NotRestricting),
            packets => Ok(Self::Packets(packets.parse().context("a number of packets, or NR")?)),
        }
    }
}

/// Both ends'. The receive buffer is one message longer than the window, as the reader takes a message just after its SACK.
pub(crate) fn config(window: Window, message: u32) -> Config {
    let rfc = Config::rfc();
    let seconds = Duration::from_secs;
    let mut config = Config {
        rto: RtoConfig {
            initial: seconds(3),
            min: seconds(1),
            max: seconds(60),
            granularity: Duration::from_millis(1),
            ..rfc.rto
        },
        heartbeat: HeartbeatConfig { interval: Some(seconds(30)), ..rfc.heartbeat },
        pmtu: PmtuConfig { base: PACKET, max: PACKET, search: PmtuSearch::Off, cut_for: None },
        primary_change: PrimaryChangeRule::LostFirst,
        ..rfc
    };
    config.failure.association = AssociationFailure::Errors(100);
    config.congestion.initial_window = match window {
        Window::Packets(packets) => InitialWindow::Packets(packets),
        Window::NotRestricting => InitialWindow::Bytes(NOT_RESTRICTING),
    };
    config.congestion.burst = BurstLimit::Packets(u32::MAX / 2);
    config.retransmission.loss = LossDetection::MissIndications(3);
    config.retransmission.path = RetransmissionPath::Primary;
    config.retransmission.order = RetransmissionOrder::LostFirst;
    config.limits.receive_buffer = RECEIVE_WINDOW + message as usize;
    config.limits.send_buffer = 1 << 30;
    config
}
