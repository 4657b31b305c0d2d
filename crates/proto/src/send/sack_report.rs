use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::outstanding::{Chunk, ChunkState, Loss};
use crate::interface::PathId;

/// What an acknowledgement says of the path that the chunks went by, the strongest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PathProof {
    /// Nothing.
    None,
    /// It did work before T3-rtx expired.
    Late,
    /// It works.
    InTime,
}

/// What a SACK meant for one path.
#[derive(Clone, Debug)]
pub(crate) struct PathAcks {
    pub(crate) path: PathId,
    /// Newly acknowledged bytes that were in flight on the path (wire length).
    pub(crate) in_flight_acked: usize,
    /// Newly acknowledged bytes last sent on the path, in flight or already given up for lost.
    pub(crate) acked: usize,
    /// Lowest newly acknowledged TSN last sent on the path.
    pub(crate) lowest_acked: Tsn,
    /// When the youngest newly acknowledged chunk was sent, of those that were sent once (Karn's rule, RFC 9260 §6.3.1 C5).
    pub(crate) youngest: Option<Instant>,
    /// What the chunks that were sent on this path only say of it.
    pub(crate) proof: PathProof,
    /// Bytes moved from in flight to lost (wire length).
    pub(crate) lost: usize,
    /// Bytes moved back to in flight because the receiver reneged.
    pub(crate) reneged: usize,
}

/// What a SACK meant.
#[derive(Debug, Default)]
pub(crate) struct SackReport {
    pub(crate) paths: SmallVec<[PathAcks; 4]>,
    /// The Cumulative TSN Ack Point moved.
    pub(crate) cumulative_advanced: bool,
    /// Bytes of user data that have left the send buffer.
    pub(crate) released: usize,
    /// Any chunk newly acknowledged.
    pub(crate) any_acked: bool,
}

impl SackReport {
    pub(super) fn path(&mut self, path: PathId, tsn: Tsn) -> &mut PathAcks {
        let at = match self.paths.iter().position(|p| p.path == path) {
            Some(at) => at,
            None => {
                self.paths.push(PathAcks {
                    path,
                    in_flight_acked: 0,
                    acked: 0,
                    lowest_acked: tsn,
                    youngest: None,
                    proof: PathProof::None,
                    lost: 0,
                    reneged: 0,
                });
                self.paths.len() - 1
            }
        };
        &mut self.paths[at]
    }

    pub(super) fn acked(&mut self, tsn: Tsn, chunk: &Chunk) {
        self.any_acked = true;
        let len = chunk.wire_len();
        let entry = self.path(chunk.path, tsn);
        if entry.acked == 0 {
            entry.lowest_acked = tsn;
        }
        entry.acked += len;
        if !chunk.retransmitted {
            entry.youngest = entry.youngest.max(Some(chunk.sent_at));
        }
        // What is acknowledged after its T3-rtx expired arrived before: it says nothing against the timeout. Taken for a
        // proof, it would bring a dead path back to life for another RTO (RFC 9260 §8.2).
        let proof = match chunk.state {
            _ if chunk.several_paths => PathProof::None,
            ChunkState::Lost(Loss::Timeout) => PathProof::Late,
            _ => PathProof::InTime,
        };
        entry.proof = entry.proof.max(proof);
        if chunk.state == ChunkState::InFlight {
            entry.in_flight_acked += len;
        }
    }
}
