//! What every sans-IO part of Whimbrel shares.
//!
//! A [`Machine`] is a state machine that talks to the world through one verb, [`Machine::step`]: time and facts
//! go in, datagrams, events and the next deadline come out. The real driver (`whimbrel`) and the network in virtual
//! time (`whimbrel-netsim`) both drive machines this way and know nothing of each other.
//!
//! Nothing here reads a clock, opens a socket or draws ambient randomness.
#![forbid(unsafe_code)]

mod instant;
mod link;
mod power;
mod propagation;
mod protocol;
mod rng;
mod step;

pub use instant::Instant;
pub use link::{
    Cost, Interface, InterfaceFact, InterfaceId, InterfaceKind, InterfaceProperties, LinkFact, Links,
    Nat64Prefix, NotANat64Prefix, OpenAddress,
};
pub use power::ReceivedPower;
pub use propagation::TwoRayGround;
pub use protocol::IpProtocol;
pub use rng::{Rng, Seed};
pub use step::{Ecn, Fragmentation, Input, Machine, Record, Route, Sink, Transmit, Unreachable, Value};
