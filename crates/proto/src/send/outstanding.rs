//! DATA that has been sent and not yet cumulatively acknowledged, and what SACKs and timeouts make of it.

mod gap_acks;
#[cfg(any(test, fuzzing, debug_assertions))]
mod invariants;
mod tail;

use core::ops::Range;
use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use self::gap_acks::{GapAcks, sane_blocks};
use super::chunk::{Chunk, ChunkState, Loss, Misses};
use super::loss::{LossDetection, SackNews};
use super::recovery::FastRecovery;
use super::report::Report;
use super::streams::Piece;
use crate::interface::PathId;

/// Why a SACK cannot be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SackError {
    /// Older than what we know: reordered on the way, to be ignored (RFC 9260 §6.2.1 D i).
    Old,
    /// Acknowledges a TSN never sent (RFC 5062 §5: answer with ABORT).
    NeverSent,
}

/// DATA chunks that have been sent and not yet cumulatively acknowledged: a ring indexed by TSN − base, since
/// TSNs are dense.
#[derive(Debug)]
pub(super) struct Outstanding {
    /// TSN of the first chunk: Cumulative TSN Ack Point + 1.
    base: Tsn,
    chunks: VecDeque<Chunk>,
    counts: Counts,
    /// No chunk below this index is lost.
    first_lost: usize,
    /// Bytes of user data held.
    held_payload: usize,
}

/// What the states of all chunks add up to. A chunk is taken out before its state or path changes and put back in
/// afterwards, so that this is the only account of what is in flight.
#[derive(PartialEq, Eq, Debug, Default)]
struct Counts {
    lost: usize,
    gap_acknowledged: usize,
    /// Bytes of user data in flight, which the peer's rwnd is about.
    payload: usize,
    /// The flight size of each path in bytes on the wire.
    flights: SmallVec<[(PathId, usize); 4]>,
}

impl Counts {
    #[inline]
    fn add(&mut self, chunk: &Chunk) {
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
    fn remove(&mut self, chunk: &Chunk) {
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

impl Outstanding {
    pub(super) fn new(initial_tsn: Tsn) -> Self {
        Self {
            base: initial_tsn,
            chunks: VecDeque::new(),
            counts: Counts::default(),
            first_lost: 0,
            held_payload: 0,
        }
    }

    // ---- commands

    /// Chunks may be sent on `path` from now on.
    pub(super) fn add_path(&mut self, path: PathId) {
        self.counts.flights.push((path, 0));
    }

    /// `path` is no more, and nothing is in flight there.
    pub(super) fn remove_path(&mut self, path: PathId) {
        debug_assert_eq!(self.flight_size(path), 0);
        self.counts.flights.retain(|(id, _)| *id != path);
    }

    /// Appends a chunk that is being sent for the first time; its TSN is the one [`Self::next_tsn`] named.
    pub(super) fn push(&mut self, piece: Piece, path: PathId, now: Instant) -> (Tsn, &Chunk) {
        let tsn = self.next_tsn();
        self.held_payload += piece.payload.len();
        self.chunks.push_back(Chunk {
            piece,
            sent_at: now,
            path,
            state: ChunkState::InFlight,
            retransmitted: false,
            several_paths: false,
            misses: Misses::default(),
        });
        let chunk = self.chunks.back().expect("just pushed");
        self.counts.add(chunk);
        (tsn, chunk)
    }

    /// Notes that the lost chunk `tsn` is being sent again on `path`.
    pub(super) fn retransmit(&mut self, tsn: Tsn, path: PathId, now: Instant) {
        let index = tsn.distance_from(self.base) as usize;
        let chunk = &mut self.chunks[index];
        debug_assert!(matches!(chunk.state, ChunkState::Lost(_)));
        self.counts.remove(chunk);
        chunk.state = ChunkState::InFlight;
        chunk.retransmitted = true;
        chunk.several_paths |= chunk.path != path;
        chunk.path = path;
        chunk.sent_at = now;
        chunk.misses.indications = 0;
        self.counts.add(chunk);
        if index == self.first_lost {
            self.first_lost += 1;
        }
    }

    /// Marks everything in flight on `path` for retransmission (RFC 9260 §6.3.3 E3); false if nothing was.
    pub(super) fn lose_all(&mut self, path: PathId) -> bool {
        if self.flight_size(path) == 0 {
            return false;
        }
        for index in 0..self.chunks.len() {
            if self.is_in_flight_on(index, path) {
                self.set_state(index, ChunkState::Lost(Loss::Timeout));
                self.chunks[index].misses = Misses::default();
            }
        }
        true
    }

    /// Moves the chunk at `index` from one state to another.
    fn set_state(&mut self, index: usize, state: ChunkState) {
        let chunk = &mut self.chunks[index];
        self.counts.remove(chunk);
        chunk.state = state;
        self.counts.add(chunk);
        if matches!(state, ChunkState::Lost(_)) {
            self.first_lost = self.first_lost.min(index);
        }
    }

    // ---- inputs

    /// Applies a SACK (RFC 9260 §6.2.1, §7.2.4). `gaps` are (start, end) offsets from the Cumulative TSN Ack, as on the
    /// wire; nonsensical blocks are ignored.
    pub(super) fn on_sack(
        &mut self,
        cumulative: Tsn,
        gaps: impl Iterator<Item = (u16, u16)> + Clone,
        loss: &mut dyn LossDetection,
        recovery: &dyn FastRecovery,
    ) -> Result<Report, SackError> {
        let highest = gaps.clone().map(|(_, end)| end as usize).max().unwrap_or(0);
        let mut report = self.acknowledge_up_to(cumulative, highest)?;
        if highest > 0 || self.counts.gap_acknowledged > 0 {
            let blocks = sane_blocks(gaps);
            let acks = self.acknowledge_gaps(blocks.clone(), &mut report);
            let news = SackNews { end: acks.end, newly_end: acks.newly_end, recovery };
            loss.on_sack(&news, self, &mut report);
            // After the above, so that one SACK never counts twice against a chunk.
            if self.counts.gap_acknowledged > acks.count {
                self.renege(blocks, loss, &mut report);
            }
        }
        Ok(report)
    }

    /// Had the receiver kept the next chunk, it would be acknowledged cumulatively now: it was dropped (RFC 9260 §6.2.1 D
    /// iii). Nothing else may ever tell, as SHUTDOWN has no gap ack blocks.
    pub(super) fn renege_next(&mut self, loss: &mut dyn LossDetection, report: &mut Report) {
        if !self.chunks.is_empty() {
            self.renege(core::iter::once(1..self.chunks.len()), loss, report);
        }
    }

    /// Applies a Cumulative TSN Ack: of a SACK whose gap ack blocks reach `highest` TSNs further, or of a SHUTDOWN, which says nothing
    /// about gaps (RFC 9260 §3.3.8).
    pub(super) fn acknowledge_up_to(&mut self, cumulative: Tsn, highest: usize) -> Result<Report, SackError> {
        let point = self.cumulative_ack_point();
        if cumulative.precedes(point) {
            return Err(SackError::Old);
        }
        let advance = cumulative.distance_from(point) as usize;
        if advance + highest > self.chunks.len() {
            return Err(SackError::NeverSent);
        }
        let mut report = Report { cumulative_advanced: advance > 0, ..Report::default() };
        for _ in 0..advance {
            let chunk = self.chunks.pop_front().expect("advance was checked");
            self.base = self.base.next();
            self.counts.remove(&chunk);
            report.released += chunk.payload_len();
            self.held_payload -= chunk.payload_len();
            if chunk.state != ChunkState::GapAcknowledged {
                report.acked(&chunk);
            }
        }
        self.first_lost = self.first_lost.saturating_sub(advance);
        Ok(report)
    }

    /// Applies the gap ack blocks.
    fn acknowledge_gaps(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        report: &mut Report,
    ) -> GapAcks {
        let mut acks = GapAcks::default();
        for block in blocks {
            acks.end = block.end;
            acks.count += block.len();
            for index in block {
                let chunk = &mut self.chunks[index];
                if chunk.state == ChunkState::GapAcknowledged {
                    continue;
                }
                report.acked(chunk);
                // Only consecutive miss indications count (RFC 9260 §7.2.4).
                chunk.misses.indications = 0;
                self.set_state(index, ChunkState::GapAcknowledged);
                acks.newly_end = index + 1;
            }
        }
        acks
    }

    /// Chunks that the blocks cover no longer are in flight again, with one miss indication: the receiver has dropped
    /// them (RFC 9260 §6.2.1 D iii).
    fn renege(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        loss: &mut dyn LossDetection,
        report: &mut Report,
    ) {
        let mut from = 0;
        for block in blocks.chain(core::iter::once(self.chunks.len()..self.chunks.len())) {
            for index in from..block.start {
                let chunk = &self.chunks[index];
                if chunk.state != ChunkState::GapAcknowledged {
                    continue;
                }
                if !self.counts.flights.iter().any(|&(path, _)| path == chunk.path) {
                    // No timer guards anything on a path that has gone.
                    self.set_state(index, ChunkState::Lost(Loss::Timeout));
                    continue;
                }
                report.path(chunk.path).reneged = true;
                self.set_state(index, ChunkState::InFlight);
                loss.on_reneged(index, self, report);
            }
            from = block.end;
        }
    }

    /// The chunk at `index` is lost, says loss detection.
    pub(super) fn lose(&mut self, index: usize, report: &mut Report) {
        report.path(self.chunks[index].path).lost = true;
        self.set_state(index, ChunkState::Lost(Loss::Missing));
    }

    /// The miss indications of the chunk at `index`, and its path; `None` unless it is in flight.
    pub(super) fn suspected(&mut self, index: usize) -> Option<(&mut Misses, PathId)> {
        let chunk = self.chunks.get_mut(index).filter(|chunk| chunk.state == ChunkState::InFlight)?;
        Some((&mut chunk.misses, chunk.path))
    }

    // ---- views

    /// TSN the next new chunk gets.
    pub(super) fn next_tsn(&self) -> Tsn {
        self.base.plus(self.chunks.len() as u32)
    }

    /// Highest TSN sent, or the Cumulative TSN Ack Point when nothing is outstanding.
    pub(super) fn highest_tsn(&self) -> Tsn {
        self.next_tsn().prev()
    }

    /// Everything up to and including this TSN has been acknowledged for good.
    pub(super) fn cumulative_ack_point(&self) -> Tsn {
        self.base.prev()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn has_lost(&self) -> bool {
        self.counts.lost > 0
    }

    /// Bytes on the wire in flight on `path`; 0 if there is no such path.
    pub(super) fn flight_size(&self, path: PathId) -> usize {
        self.counts.flights.iter().find(|(id, _)| *id == path).map_or(0, |&(_, bytes)| bytes)
    }

    /// Bytes of user data in flight on all paths.
    pub(super) fn in_flight_payload(&self) -> usize {
        self.counts.payload
    }

    /// Bytes of user data not yet cumulatively acknowledged.
    pub(super) fn held_payload(&self) -> usize {
        self.held_payload
    }

    pub(super) fn get(&self, tsn: Tsn) -> Option<&Chunk> {
        self.chunks.get(tsn.distance_from(self.base) as usize)
    }

    /// Lost chunks, lowest TSN first.
    pub(super) fn lost(&self) -> impl Iterator<Item = (Tsn, &Chunk, Loss)> {
        let start = if self.has_lost() { self.first_lost.min(self.chunks.len()) } else { self.chunks.len() };
        self.chunks.range(start..).enumerate().filter_map(move |(offset, chunk)| match chunk.state {
            ChunkState::Lost(loss) => Some((self.base.plus((start + offset) as u32), chunk, loss)),
            _ => None,
        })
    }

    /// Lowest TSN in flight on `path`.
    pub(super) fn earliest_in_flight(&self, path: PathId) -> Option<Tsn> {
        let index = (0..self.chunks.len()).find(|&index| self.is_in_flight_on(index, path))?;
        Some(self.base.plus(index as u32))
    }

    fn is_in_flight_on(&self, index: usize, path: PathId) -> bool {
        let chunk = &self.chunks[index];
        chunk.path == path && chunk.state == ChunkState::InFlight
    }
}

#[cfg(test)]
#[path = "outstanding_tests.rs"]
mod tests;
