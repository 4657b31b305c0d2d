//! The simulation soak: one number makes a network, two hosts, their users and everything that goes wrong.
//!
//! [`run`] plays the scenario of a seed in virtual time. Faults stop at a set time; after it the association (or the
//! one that succeeded it, where a host restarted or a user aborted) must have delivered every accepted message
//! exactly once, whole, in the order of its stream, and both ends must be closed with nothing left over. The same
//! seed plays the same scenario to the last bit, so a failure is replayed with a capture and a trace by its seed alone.
//!
//! # What a seed means
//!
//! A seed that once failed tells something only as long as it makes the same world. So what is drawn is never changed; a new trouble
//! is drawn from a random stream of its own, in a new sort of world ([`Worlds`]) that the older ones do not turn into.
//! [`Worlds::Mixed`] keeps to the sorts that it had: with one more, most of its seeds would mean other worlds. [`Worlds::Rough`]
//! is therefore played beside it, and so are [`Worlds::Controllers`], [`Worlds::Multipath`] and [`Worlds::Protected`]: `whimbrel soak` and CI play all five.
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
mod rough;
mod scenario;
mod talk;
mod traffic;
mod user;

pub use kind::Worlds;
pub use play::{Failure, Report, Watch, run};
pub use scenario::Scenario;
