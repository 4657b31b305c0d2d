//! Media that many stations share, each kind in one file. [`World::share`](crate::World::share) has links go through one.

mod dcf;
mod phy;
mod umts;

use whimbrel_machine::Instant;

pub use dcf::{Dcf, DcfConfig};
pub use phy::Phy;
pub use umts::{Umts, UmtsConfig};

/// What became of a packet that a station had to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The station that had it.
    pub station: usize,
    /// What whoever offered it calls it.
    pub ticket: u32,
    /// It has arrived; otherwise the retry limit was reached and it is dropped.
    pub delivered: bool,
}

/// A medium on which stations send in turns or in competition, as a pure object. It holds no packet, only their lengths.
pub trait SharedMedium {
    /// `station` has an IP packet of `ip_bytes` to send; false if its queue is full. `now` never runs backwards, and everything
    /// due before it has been taken by [`SharedMedium::advance`].
    fn offer(&mut self, now: Instant, station: usize, ticket: u32, ip_bytes: u32) -> bool;
    /// When [`SharedMedium::advance`] is to be called next, if nothing is offered until then.
    fn next_event(&self) -> Option<Instant>;
    /// Lets time pass until `now`. Returns what has become of one packet; call again until there is none.
    fn advance(&mut self, now: Instant) -> Option<Outcome>;
    /// Packets that wait at `station`, the one in contention included.
    fn waiting(&self, station: usize) -> usize;
}
