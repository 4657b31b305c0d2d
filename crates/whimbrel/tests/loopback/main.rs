//! The library over real sockets on the loopback interface.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod backpressure;
mod cancel;
mod crowd;
mod drops;
mod echo;
mod ending;
#[cfg(unix)]
mod forged_links;
mod large;
mod links;
mod listening;
mod metrics;
mod network;
mod paths;
mod protection;
mod raw;
mod relay;
mod restart;
mod shards;
mod stuck_flow;
mod support;
