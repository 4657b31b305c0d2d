//! What others may know of a receiver.

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::draft::CHUNK_NR_SACK;
use whimbrel_wire::{Tsn, chunk_type};

#[cfg(any(test, fuzzing))]
use super::saturated;
use super::{Receive, window};

impl Receive {
    /// Whether anything is here that nobody has taken.
    pub(crate) fn holds_anything(&self) -> bool {
        self.reassembly.items() > 0
    }

    /// Whether a SACK must go out now.
    pub(crate) fn ack_due(&self, now: Instant) -> bool {
        self.acknowledgement.is_due(now)
    }

    /// Whether there is something to acknowledge: a SACK should go along if DATA goes out anyway (RFC 9260 §6.1).
    pub(crate) fn ack_pending(&self) -> bool {
        self.acknowledgement.is_pending()
    }

    /// The chunk type of SACKs.
    pub(crate) fn sack_type(&self) -> u8 {
        if self.last_sack.split.is_some() { CHUNK_NR_SACK } else { chunk_type::SACK }
    }

    /// Where the last DATA came from.
    pub(crate) fn route(&self) -> Route {
        self.route
    }

    /// Whether the peer can send no more than a little, if anything, because the user does not read.
    pub(crate) fn is_full(&self) -> bool {
        self.window.current(self.reassembly.items()) < window::PACKET
    }

    /// The Cumulative TSN: it and all before it have been received.
    pub(crate) fn cumulative_tsn(&self) -> Tsn {
        self.tsns.cumulative_tsn()
    }

    /// Whether TSNs beyond the cumulative one have been received.
    pub(crate) fn has_gaps(&self) -> bool {
        self.tsns.has_gaps()
    }

    /// Whether something is missing of what the peer has sent: a TSN, the end of a message, or one before another.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.has_gaps() || self.reassembly.is_unfinished()
    }

    /// The window that a SACK would advertise now, in bytes.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn a_rwnd(&self) -> u32 {
        saturated(self.window.current(self.reassembly.items()))
    }

    /// Payload bytes received and not released by the user.
    pub(crate) fn buffered(&self) -> usize {
        self.window.used()
    }

    /// What lies beyond gaps, in bytes with bookkeeping.
    pub(crate) fn held(&self) -> usize {
        let (items, bytes) = self.reassembly.droppable();
        bytes + items * window::OVERHEAD
    }

    /// Whether anything is here that the user has not got yet.
    pub(crate) fn holds_unfinished(&self) -> bool {
        self.reassembly.items() > 0
    }

    /// Messages delivered to their end so far.
    pub(crate) fn messages(&self) -> u64 {
        self.reassembly.messages()
    }

    /// Payload bytes delivered so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.reassembly.bytes()
    }

    /// DATA chunks that came more than once.
    pub(crate) fn duplicates(&self) -> u64 {
        self.duplicates
    }
}
