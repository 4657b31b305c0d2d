//! Network-controlled handover (paper d10: UFA, Ultra Flat Architecture): the network decides that a terminal moves, prepares the place where it
//! goes, and tells both ends by SIP (RFC 3261) which addresses and which congestion state their SCTP has from then on. ASCONF is not used.
//!
//! Three machines, as sans-IO as SCTP's: a [`Gateway`] between the terminals and the world, which is a SIP back-to-back user agent, a [`Terminal`], and a
//! [`Correspondent`]. The ends have a [`Cross`] each, which binds SIP sessions to SCTP associations and turns what SIP says into commands to SCTP.
//!
//! | | from, to | message | here |
//! |---|---|---|---|
//! | 1, 2 | source, candidates | RESOURCE QUERY REQUEST, RESPONSE | a request `RESOURCE_QUERY` and its 200 |
//! | 3, 4 | source, target | CONTEXT TRANSFER, ACK | a request `CONTEXT_TRANSFER` and its 200 |
//! | 5, 6, 7 | source, correspondent | re-INVITE, 200, ACK | |
//! | 5A, 6A, 7A | source, terminal | re-INVITE, 200, ACK | |
//! | 8 | terminal, target | re-INVITE | and its 200 and ACK |
//!
//! Whatever is lost, doubled or late, and whoever crashes, each machine ends in a state that is described: a session goes on where it was, or where it
//! went, or its SIP side is over while SCTP's own supervision decides about the association.
#![forbid(unsafe_code)]

mod agent;
mod correspondent;
mod cross;
mod gateway;
mod interface;
pub mod sip;
mod supervision;
mod terminal;
mod transition;

#[cfg(test)]
mod attacks_tests;
#[cfg(test)]
mod authority_tests;
#[cfg(test)]
mod each_message_tests;
#[cfg(test)]
mod families_tests;
#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod mishaps_tests;
#[cfg(test)]
mod refusals_tests;
#[cfg(test)]
mod testing;

pub use agent::Patience;
pub use correspondent::Correspondent;
pub use cross::{Change, Cross, Side};
pub use gateway::{Access, ClearSip, Gateway, GatewayConfig, Order, Release, Resources, SessionView};
pub use interface::{Application, Command, Event, Failure, TransportOrder};
pub use terminal::{Terminal, TerminalConfig};
pub use transition::{OldAddress, Transition, Ufa, UfaPlus, UfaPlusPlus, trusting};
