//! What an acknowledgement has changed, for each path: values, from which the association draws the consequences for timers,
//! RTOs, error counters and path states.

use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::chunk::{Chunk, ChunkState, Departure, Loss};
use super::spurious::Returned;
pub(crate) use super::tail::TailLost;
use crate::interface::PathId;
use whimbrel_path::PacketSizes;

/// What an acknowledgement has changed.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Each path that a chunk has changed its state on.
    pub(crate) paths: SmallVec<[PathChange; 4]>,
    /// The Cumulative TSN Ack Point has advanced.
    pub(crate) cumulative_advanced: bool,
    /// What had arrived beyond a gap is acknowledged for good.
    pub(super) bridged: bool,
    /// The chunk that the peer waits for is larger than its window, so that it cannot acknowledge anything now (RFC 9260
    /// §6.1 A).
    pub(crate) refused: bool,
    /// The path on which a tail-loss probe has shown all to be lost that was sent before it.
    pub(crate) tail_lost: Option<TailLost>,
    /// The copy of a probe on this path has been answered, by the time that it took: a HEARTBEAT is to say so, too.
    pub(crate) ask: Option<PathId>,
    /// What a SACK or the time has shown to be lost.
    pub(super) lost: SmallVec<[LostChunk; 4]>,
    /// What had been called lost and is acknowledged now.
    pub(super) returned: SmallVec<[Returned; 4]>,
    /// The SACK before may have had no room for all that there was to tell.
    pub(super) after_full: bool,
    /// Bytes of user data that have left the send buffer.
    pub(super) released: usize,
}

/// A chunk that has been called lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LostChunk {
    /// The path it was last sent on.
    pub(super) path: PathId,
    pub(super) tsn: Tsn,
    /// When it had been sent.
    pub(super) sent_at: Instant,
    /// It was the first one in its packet: lost packets are counted by it.
    pub(super) is_counted: bool,
    /// It had gone out by another path, too: that it comes twice says nothing of this one.
    pub(super) has_copy: bool,
}

/// What it has changed on one path.
#[derive(Clone, Debug)]
pub(crate) struct PathChange {
    pub(crate) path: PathId,
    /// Newly acknowledged bytes last sent on the path, in flight or already given up for lost, as on the wire.
    pub(crate) acked: usize,
    /// Newly acknowledged packets that were last sent on the path.
    pub(crate) packets: u32,
    /// How large packets were that arrived or were lost, of those that a SACK has shown to be lost.
    pub(crate) sizes: PacketSizes,
    /// The congestion window of the path was full when it last had its turn to send.
    pub(crate) full: bool,
    /// Bytes of new user data that wait for nothing but the window or the pace of the path, which has been found out; `None` while data is held back to measure the path.
    pub(crate) waiting: Option<usize>,
    /// The round-trip time of the youngest newly acknowledged chunk that was sent once.
    pub(crate) round_trip: Option<Duration>,
    /// What of these was not on its way any more: it arrived some time ago.
    pub(super) late: usize,
    /// What the acknowledgement proves about the path, judged by chunks that were never sent on another one.
    pub(crate) proof: PathProof,
    /// The round-trip time of the chunk that was timed (RFC 9260 §6.3.1).
    pub(crate) measured: Option<Duration>,
    /// What becomes of T3-rtx.
    pub(crate) t3: T3,
    /// When the youngest newly acknowledged chunk was sent, of those that were sent once (Karn's rule, RFC 9260 §6.3.1 C5).
    pub(crate) youngest: Option<Instant>,
    /// When the oldest of these was.
    pub(super) oldest: Option<Instant>,
    /// When the youngest of those was sent that were sent again, and never on another path.
    pub(crate) sent_again: Option<Instant>,
    /// When detection of losses looks at the path next, if no SACK comes first.
    pub(crate) reordering: Option<Instant>,
    /// The lowest and the highest TSN newly acknowledged.
    pub(super) newly: Option<(Tsn, Tsn)>,
    /// The lowest and the highest TSN newly acknowledged of those that were sent once.
    pub(super) once: Option<(Tsn, Tsn)>,
    /// When the youngest of those was sent that had been lost on another path.
    pub(super) moved: Option<Instant>,
    /// The TSN of the one that `sent_again` is about.
    pub(super) again: Option<Tsn>,
    /// Something in flight on the path has turned out to be lost.
    pub(super) lost: bool,
    /// Bytes of chunks that a SACK has shown to be lost on the path, as on the wire.
    pub(super) lost_bytes: usize,
    /// When the youngest of these was last sent.
    pub(super) lost_newest: Option<Instant>,
    /// The lowest TSN that is in flight on the path again and had been acknowledged.
    pub(super) reneged: Option<Tsn>,
}

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

/// What becomes of T3-rtx of a path (RFC 9260 §6.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum T3 {
    /// It is started if it does not run (R1).
    Start,
    /// It is started anew: the earliest chunk in flight has changed (R3, R4).
    Restart,
    /// It is stopped: nothing is in flight (R2).
    Stop,
}

impl PathChange {
    /// When the last of what is newly acknowledged on the path left, where no round trip is shorter than `least`.
    pub(super) fn newest_sent(&self, now: Instant, least: Option<Duration>) -> Option<Instant> {
        // An answer that comes sooner than any before is to the first transmission.
        let least = least.unwrap_or(Duration::MAX);
        let sent_again = self.sent_again.filter(|&at| now.saturating_since(at) >= least);
        self.youngest.max(sent_again)
    }

    /// When the youngest of what had been lost on another path was sent on this one, where no answer comes sooner than after `least`.
    pub(super) fn moved_at(&self, now: Instant, least: Option<Duration>) -> Option<Instant> {
        let least = least.unwrap_or(Duration::MAX);
        self.moved.filter(|&at| now.saturating_since(at) >= least)
    }

    /// How long the youngest of what was sent once took, unless something that was sent again after it arrived with it, `after_full` SACKs: the one that fills
    /// a gap may bring acknowledgement for what arrived long ago, and had no room in a SACK.
    pub(super) fn took(&self, now: Instant, after_full: bool) -> Option<Duration> {
        let told_late = |youngest: &Instant| after_full && self.sent_again > Some(*youngest);
        let youngest = self.youngest.filter(|youngest| !told_late(youngest))?;
        Some(now.saturating_since(youngest))
    }

    /// That departure, and which chunk it was.
    pub(super) fn newest_departure(&self, now: Instant, least: Option<Duration>) -> Option<Departure> {
        let once = self.youngest.zip(self.once).map(|(at, (_, tsn))| Departure { at, tsn });
        let again = self.sent_again.zip(self.again).map(|(at, tsn)| Departure { at, tsn });
        let least = least.unwrap_or(Duration::MAX);
        let again = again.filter(|again| now.saturating_since(again.at) >= least);
        match (once, again) {
            (Some(once), Some(again)) if once.is_before(again) => Some(again),
            (once, again) => once.or(again),
        }
    }
}

impl Report {
    /// The entry of a path, which is made if there is none.
    pub(super) fn path(&mut self, path: PathId) -> &mut PathChange {
        let at = match self.paths.iter().position(|p| p.path == path) {
            Some(at) => at,
            None => {
                let (proof, t3) = (PathProof::None, T3::Start);
                let (measured, youngest, sent_again) = (None, None, None);
                let (reordering, once, again) = (None, None, None);
                self.paths.push(PathChange {
                    path,
                    acked: 0,
                    packets: 0,
                    sizes: PacketSizes::default(),
                    full: false,
                    waiting: None,
                    round_trip: None,
                    late: 0,
                    proof,
                    measured,
                    t3,
                    youngest,
                    oldest: None,
                    sent_again,
                    reordering,
                    moved: None,
                    newly: None,
                    once,
                    again,
                    lost: false,
                    lost_bytes: 0,
                    lost_newest: None,
                    reneged: None,
                });
                self.paths.len() - 1
            }
        };
        &mut self.paths[at]
    }

    /// Notes that the chunk `tsn` has turned out to be lost.
    pub(super) fn lost(&mut self, tsn: Tsn, chunk: &Chunk) {
        self.lost.push(LostChunk {
            path: chunk.path,
            tsn,
            sent_at: chunk.sent_at,
            is_counted: chunk.packet > 0,
            has_copy: chunk.several_paths,
        });
        let entry = self.path(chunk.path);
        entry.lost = true;
        entry.lost_bytes += chunk.wire_len();
        entry.lost_newest = entry.lost_newest.max(Some(chunk.sent_at));
        if chunk.packet > 0 {
            entry.sizes.lost += 1;
            entry.sizes.least_lost = entry.sizes.least_lost.min(chunk.packet.into());
        }
    }

    /// Notes that a chunk that had been called lost has arrived, if it can be said by which transmission.
    fn returned(&mut self, tsn: Tsn, chunk: &Chunk) {
        let sent_again = match chunk.state {
            // A copy may be what has arrived.
            ChunkState::Lost(_) if !chunk.retransmitted && !chunk.several_paths => None,
            ChunkState::InFlight if !chunk.several_paths => Some(chunk.sent_at),
            _ => return,
        };
        self.returned.push(Returned { path: chunk.path, tsn, sent_again });
    }

    /// Notes that the chunk `tsn`, which is still in its old state, is acknowledged for the first time. The lowest comes first.
    pub(super) fn acked(&mut self, tsn: Tsn, chunk: &Chunk) {
        if chunk.retransmitted || matches!(chunk.state, ChunkState::Lost(_)) {
            self.returned(tsn, chunk);
        }
        let entry = self.path(chunk.path);
        entry.acked += chunk.wire_len();
        entry.packets += u32::from(chunk.packet > 0);
        entry.newly = Some((entry.newly.map_or(tsn, |(lowest, _)| lowest), tsn));
        entry.late += if chunk.has_left { chunk.wire_len() } else { 0 };
        if !chunk.retransmitted && !chunk.several_paths {
            entry.youngest = entry.youngest.max(Some(chunk.sent_at));
            entry.oldest = Some(entry.oldest.map_or(chunk.sent_at, |oldest| oldest.min(chunk.sent_at)));
            entry.once = Some((entry.once.map_or(tsn, |(lowest, _)| lowest), tsn));
            entry.sizes.arrived = entry.sizes.arrived.max(chunk.packet.into());
        } else if chunk.retransmitted && chunk.several_paths {
            entry.moved = entry.moved.max(Some(chunk.sent_at));
        } else if chunk.retransmitted && entry.sent_again <= Some(chunk.sent_at) {
            (entry.sent_again, entry.again) = (Some(chunk.sent_at), Some(tsn));
        }
        // What is acknowledged after its T3-rtx expired arrived before: it says nothing against the timeout. Taken for a
        // proof, it would bring a dead path back to life for another RTO (RFC 9260 §8.2).
        let proof = match chunk.state {
            _ if chunk.several_paths => PathProof::None,
            ChunkState::Lost(Loss::Timeout | Loss::Outage) => PathProof::Late,
            _ => PathProof::InTime,
        };
        entry.proof = entry.proof.max(proof);
    }
}
