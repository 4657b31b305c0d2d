//! The sending half of an association (RFC 9260 §6.1, §6.3, §6.9, §7).
//!
//! ```text
//! send() -> streams -> scheduler -> packet: cut, bundled -> outstanding        next_packet()
//!                                        lost -> retransmission rule ^   |
//! SACK -> outstanding -> loss detection -> recovery -> congestion control     on_sack() -> Report
//! T3-rtx -> all that is in flight on the path is lost                         on_timeout()
//! ```
//!
//! `Sender` is all of it behind a small surface: it starts no timers, changes no RTO and no path state, and says in a
//! report what has changed for each path. What is in flight is counted in one place, `outstanding`; what belongs to one path
//! alone is a `flow`. Rules that can be replaced are traits with one file each: `scheduler` (which path carries new DATA),
//! [`stream_scheduler`] (which stream sends next), `loss` (what a SACK shows to be lost), `growth` (which SACKs let a window grow), `recovery` (what Fast Recovery is a
//! state of) and `retransmit` (where lost DATA goes).

mod acknowledge;
#[cfg(any(test, fuzzing, debug_assertions))]
mod checks;
mod chunk;
mod copies;
mod filling;
mod flow;
mod growth;
mod late;
mod loss;
mod lost;
mod next;
#[cfg(any(test, fuzzing))]
pub(crate) mod operations;
mod outstanding;
mod packet;
mod recovery;
pub(crate) mod report;
mod retransmit;
mod round_trip;
mod scheduler;
mod second_way;
mod sender;
#[cfg(any(test, fuzzing))]
pub(crate) mod sender_operations;
mod spurious;
pub mod stream_scheduler;
mod streams;
mod tail;
#[cfg(any(test, fuzzing))]
mod testing;
pub(crate) mod turn;
mod view;
mod window;

pub(crate) use self::chunk::Loss;
pub(crate) use self::outstanding::{LEAST_ROOM, SackError};
pub(crate) use self::sender::Sender;
