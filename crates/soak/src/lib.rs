//! The simulation soak: one number makes a network, two hosts, their users and everything that goes wrong.
//!
//! [`run`] plays the scenario of a seed in virtual time. Faults stop at a set time; after it the association (or the
//! one that succeeded it, where a host restarted or a user aborted) must have delivered every accepted message
//! exactly once, whole, in the order of its stream, and both ends must be closed with nothing left over. The same
//! seed plays the same scenario to the last bit, so a failure is replayed with a capture and a trace by its seed alone.
#![forbid(unsafe_code)]

mod build;
mod check;
mod configs;
mod draw;
mod intruders;
mod kind;
mod ledger;
mod motion;
mod networks;
mod notes;
mod places;
mod play;
mod rest;
mod scenario;
mod traffic;
mod user;

pub use kind::Worlds;
pub use play::{Failure, Report, Watch, run};
pub use scenario::Scenario;
