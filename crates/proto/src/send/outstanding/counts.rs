use smallvec::SmallVec;

use crate::interface::PathId;
use crate::send::chunk::{Chunk, ChunkState, Loss};

/// What the states of all chunks add up to. A chunk is taken out before its state or path changes and put back in
/// afterwards, so that this is the only account of what is in flight.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub(super) lost: usize,
    /// Bytes of user data in what is lost.
    pub(super) lost_payload: usize,
    /// What of it was lost where, and how: in the order of both, nothing that is nought.
    pub(super) losses: SmallVec<[(PathId, Loss, usize); 4]>,
    pub(super) gap_acknowledged: usize,
    /// What of it the receiver will not drop.
    pub(super) released: usize,
    /// Bytes of user data in flight, which the peer's rwnd is about.
    pub(super) payload: usize,
    pub(super) flights: SmallVec<[Flight; 4]>,
}

/// What is in flight on one path, in bytes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flight {
    pub(super) path: PathId,
    /// The flight size.
    pub(super) bytes: usize,
    /// What of it is no longer on its way.
    pub(super) left: usize,
    /// Packets that have arrived according to gap ack blocks. In packets, not bytes.
    pub(super) arrived: u32,
    /// Bytes of user data last sent on the path that have not been acknowledged for good.
    pub(super) held: usize,
}

impl Flight {
    pub(super) fn none(path: PathId) -> Self {
        Self { path, bytes: 0, left: 0, arrived: 0, held: 0 }
    }
}

impl Counts {
    #[inline]
    pub(super) fn add(&mut self, chunk: &Chunk) {
        match chunk.state {
            ChunkState::InFlight => {
                self.payload += chunk.payload_len();
                if let Some(flight) = self.flight(chunk.path) {
                    flight.bytes += chunk.wire_len();
                    flight.held += chunk.payload_len();
                    flight.left += if chunk.has_left { chunk.wire_len() } else { 0 };
                }
            }
            ChunkState::GapAcknowledged => {
                self.gap_acknowledged += 1;
                self.released += usize::from(chunk.is_released());
                if let Some(flight) = self.flight_if_there(chunk) {
                    flight.arrived += u32::from(chunk.packet > 0);
                    flight.held += chunk.payload_len();
                }
            }
            ChunkState::Lost(loss) => {
                self.lost += 1;
                self.lost_payload += chunk.payload_len();
                match self.loss(chunk.path, loss) {
                    Ok(at) => self.losses[at].2 += 1,
                    Err(at) => self.losses.insert(at, (chunk.path, loss, 1)),
                }
                if let Some(flight) = self.flight_if_there(chunk) {
                    flight.held += chunk.payload_len();
                }
            }
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, chunk: &Chunk) {
        match chunk.state {
            ChunkState::InFlight => {
                self.payload -= chunk.payload_len();
                if let Some(flight) = self.flight(chunk.path) {
                    flight.bytes -= chunk.wire_len();
                    flight.held -= chunk.payload_len();
                    flight.left -= if chunk.has_left { chunk.wire_len() } else { 0 };
                }
            }
            ChunkState::GapAcknowledged => {
                self.gap_acknowledged -= 1;
                self.released -= usize::from(chunk.is_released());
                if let Some(flight) = self.flight_if_there(chunk) {
                    flight.arrived -= u32::from(chunk.packet > 0);
                    flight.held -= chunk.payload_len();
                }
            }
            ChunkState::Lost(loss) => {
                self.lost -= 1;
                self.lost_payload -= chunk.payload_len();
                if let Some(flight) = self.flight_if_there(chunk) {
                    flight.held -= chunk.payload_len();
                }
                let Ok(at) = self.loss(chunk.path, loss) else { return };
                self.losses[at].2 -= 1;
                if self.losses[at].2 == 0 {
                    self.losses.remove(at);
                }
            }
        }
    }

    /// How many chunks are acknowledged that the receiver may still drop.
    pub(super) fn renegable(&self) -> usize {
        self.gap_acknowledged - self.released
    }

    fn loss(&self, path: PathId, loss: Loss) -> Result<usize, usize> {
        self.losses.binary_search_by_key(&(path, loss), |&(path, loss, _)| (path, loss))
    }

    /// What is counted of the path that the chunk was last sent on, if that is still there.
    fn flight_if_there(&mut self, chunk: &Chunk) -> Option<&mut Flight> {
        self.flights.iter_mut().find(|flight| flight.path == chunk.path)
    }

    fn flight(&mut self, path: PathId) -> Option<&mut Flight> {
        let found = self.flights.iter_mut().find(|flight| flight.path == path);
        debug_assert!(found.is_some(), "nothing is in flight on a path that is gone");
        found
    }
}
