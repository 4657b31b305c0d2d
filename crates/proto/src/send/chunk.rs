//! One DATA chunk that has been sent and not yet been acknowledged for good.

use whimbrel_machine::Instant;
use whimbrel_wire::{DATA_HEADER_LEN, Data, Tsn};

use super::streams::Piece;
use crate::interface::PathId;

/// Where a DATA chunk stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChunkState {
    /// Sent, fate unknown; counts in the flight size of its path.
    InFlight,
    /// Acknowledged by a gap ack block, which is advisory: the receiver may renege (RFC 9260 §6.2.1 D iii), unless the chunk has been
    /// released.
    GapAcknowledged,
    /// To be retransmitted; counts in no flight size.
    Lost(Loss),
}

/// When a chunk left. What leaves at one instant leaves in the order of TSNs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Departure {
    pub(super) at: Instant,
    pub(super) tsn: Tsn,
}

impl Departure {
    /// Whether it was before the other one.
    pub(super) fn is_before(self, other: Self) -> bool {
        self.at < other.at || self.at == other.at && self.tsn.precedes(other.tsn)
    }
}

/// How a loss was noticed; decides where the chunk goes next (RFC 9260 §6.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Loss {
    /// A SACK has shown it (RFC 9260 §7.2.4).
    Missing,
    /// T3-rtx has expired, or the path is known to be gone.
    Timeout,
    /// It is on its way as far as anybody knows, and another path brings it sooner.
    Late,
    /// As `Timeout`, and the path has worked again since: nothing speaks against it.
    Outage,
}

/// A DATA chunk that has a TSN. The TSN is its position in [`Outstanding`](super::outstanding::Outstanding).
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) piece: Piece,
    /// When it was last sent.
    pub(super) sent_at: Instant,
    /// The path it was last sent on.
    pub(super) path: PathId,
    pub(super) state: ChunkState,
    /// While in flight: it is no longer on its way, and whether it has arrived is not known.
    pub(super) has_left: bool,
    pub(super) retransmitted: bool,
    /// It was last sent with another I bit than at first.
    pub(super) other_bit: bool,
    /// Bytes of the packet that it was last sent in, if it was the first one there: packets are counted by it. Else 0.
    pub(super) packet: u16,
    /// Sent on more than one path, so that an acknowledgement says nothing about either (RFC 7829 §3.2 rule 9).
    pub(super) several_paths: bool,
    pub(super) misses: Misses,
}

/// What SACKs have said against a chunk (RFC 9260 §7.2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Misses {
    /// Consecutive miss indications.
    pub(super) indications: u8,
    /// Ineligible for another fast retransmit (RFC 9260 §7.2.4 step 5).
    pub(super) fast_retransmitted: bool,
}

impl Chunk {
    /// Whether its fate is unknown.
    pub(super) fn is_in_flight(&self) -> bool {
        self.state == ChunkState::InFlight
    }

    /// Whether the receiver has said that it will not drop it, so that its user data is no longer here. No DATA chunk goes out without any.
    pub(super) fn is_released(&self) -> bool {
        self.piece.payload.is_empty()
    }

    /// Bytes of user data: what the peer's window counts (RFC 9260 §6.2.1).
    pub(super) fn payload_len(&self) -> usize {
        self.piece.payload.len()
    }

    /// Bytes on the wire, header and padding included: what cwnd and flight size count (RFC 9260 §7.2).
    pub(super) fn wire_len(&self) -> usize {
        data_chunk_len(self.payload_len())
    }

    /// The chunk as it goes on the wire.
    pub(super) fn data(&self, tsn: Tsn) -> Data<'_> {
        let Piece { payload, ppid, stream, ssn, unordered, beginning, ending, immediate, urgent: _ } =
            &self.piece;
        Data {
            immediate: *immediate,
            unordered: *unordered,
            beginning: *beginning,
            ending: *ending,
            tsn,
            stream: *stream,
            ssn: *ssn,
            ppid: *ppid,
            payload,
        }
    }
}

/// Bytes on the wire of a DATA chunk with this much user data, header and padding included.
pub(super) const fn data_chunk_len(payload: usize) -> usize {
    (DATA_HEADER_LEN + payload + 3) & !3
}

#[cfg(test)]
#[path = "chunk_tests.rs"]
mod tests;
