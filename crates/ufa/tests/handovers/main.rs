//! Handovers that the network controls, of hosts with SCTP associations, in a network in virtual time.

#![allow(clippy::unwrap_used, reason = "tests")]

mod at_once;
mod bed;
mod gate;
mod mobile;
mod seeds;
mod seen;
