//! A network link in real time: a relay between UDP sockets that delays, drops, reorders and cuts as the links of
//! `whimbrel-netsim` do, with the very same model.
//!
//! A [`Relay`] listens where clients believe the server to be, and passes their datagrams on from an exit address of
//! its own, like a NAT. One direction is the uplink (client to server), the other the downlink; each is a
//! [`LinkDirection`](whimbrel_netsim::LinkDirection). A [`RelayHandle`] changes them while they run.
//!
//! A [`Cable`] is the same for whole Ethernet frames; the program `whimbrel-wire` strings one between two TAP devices, which
//! network namespaces then use as their cables.
//!
//! What the sockets of ordinary users cannot do, it does not do: ECN bits are not passed on, and no ICMP is sent. A
//! datagram that is dropped just vanishes.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this crate lives in real time")]

mod cable;
mod client;
mod lane;
mod relay;
mod shared;
mod tasks;

pub use cable::Cable;
pub use relay::{Direction, Relay, RelayConfig, RelayHandle};
pub use shared::RelayStats;
