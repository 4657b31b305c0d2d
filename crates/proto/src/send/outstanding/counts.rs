use smallvec::SmallVec;

use crate::interface::PathId;
use crate::send::chunk::{Chunk, ChunkState};

/// What the states of all chunks add up to. A chunk is taken out before its state or path changes and put back in
/// afterwards, so that this is the only account of what is in flight.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub(super) lost: usize,
    pub(super) gap_acknowledged: usize,
    /// Bytes of user data in flight, which the peer's rwnd is about.
    pub(super) payload: usize,
    /// The flight size of each path in bytes on the wire.
    pub(super) flights: SmallVec<[(PathId, usize); 4]>,
}

impl Counts {
    #[inline]
    pub(super) fn add(&mut self, chunk: &Chunk) {
        match chunk.state {
            ChunkState::InFlight => {
                self.payload += chunk.payload_len();
                if let Some(flight) = self.flight(chunk.path) {
                    *flight += chunk.wire_len();
                }
            }
            ChunkState::GapAcknowledged => self.gap_acknowledged += 1,
            ChunkState::Lost(_) => self.lost += 1,
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, chunk: &Chunk) {
        match chunk.state {
            ChunkState::InFlight => {
                self.payload -= chunk.payload_len();
                if let Some(flight) = self.flight(chunk.path) {
                    *flight -= chunk.wire_len();
                }
            }
            ChunkState::GapAcknowledged => self.gap_acknowledged -= 1,
            ChunkState::Lost(_) => self.lost -= 1,
        }
    }

    fn flight(&mut self, path: PathId) -> Option<&mut usize> {
        let found = self.flights.iter_mut().find(|(id, _)| *id == path).map(|(_, bytes)| bytes);
        debug_assert!(found.is_some(), "nothing is in flight on a path that is gone");
        found
    }
}
