//! DATA that has been sent and not yet cumulatively acknowledged, and what SACKs and timeouts make of it.

mod counts;
mod gap_acks;
#[cfg(any(test, fuzzing, debug_assertions))]
mod invariants;
mod late;
mod left;
mod marks;
mod reneging;
mod tail;
mod urgent;
mod views;

use core::ops::Range;
use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use self::counts::{Counts, Flight};
pub(crate) use self::gap_acks::LEAST_ROOM;
use self::gap_acks::{Belief, GapAcks, sane_blocks};
use self::late::SeveralPaths;
use self::marks::{GapMarks, Marks};
use super::chunk::{Chunk, ChunkState, Loss, Misses};
use super::loss::{Circumstances, LossDetection, SackNews};
use super::report::Report;
use super::streams::Piece;
use crate::config::OvertakenSacks;
use crate::interface::PathId;

/// Why a SACK cannot be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SackError {
    /// Older than what we know: reordered on the way, to be ignored (RFC 9260 §6.2.1 D i).
    Old,
    /// Acknowledges a TSN never sent (RFC 5062 §5: answer with ABORT).
    NeverSent,
    /// Stops right before a chunk that the receiver has said it will not drop, and that it therefore has: it would never be acknowledged.
    Withdrawn,
}

/// DATA chunks that have been sent and not yet cumulatively acknowledged: a ring indexed by TSN − base, since
/// TSNs are dense. What a SACK says is compared with sets of chunks, so that it costs what it newly tells, however many chunks
/// it repeats and however many are outstanding.
#[derive(Debug)]
pub(super) struct Outstanding {
    /// TSN of the first chunk: Cumulative TSN Ack Point + 1.
    base: Tsn,
    chunks: VecDeque<Chunk>,
    counts: Counts,
    /// Bytes of user data held.
    held_payload: usize,
    /// How many chunks have been acknowledged for good: the number of the first in the sets that follow.
    done: u64,
    gap_acknowledged: GapMarks,
    lost: Marks,
    /// Chunks that miss indications say nothing about: those that are not in flight, and those that were fast-retransmitted.
    settled: Marks,
    belief: Belief,
    /// The last SACK had so many gap ack blocks that it may have had no room for more.
    full: bool,
    /// How many packets have been lost on each path that nobody has asked about yet.
    packets_lost: SmallVec<[(PathId, u32); 4]>,
    several: SeveralPaths,
}

impl Outstanding {
    pub(super) fn new(initial_tsn: Tsn) -> Self {
        Self {
            base: initial_tsn,
            chunks: VecDeque::new(),
            counts: Counts::default(),
            held_payload: 0,
            done: 0,
            gap_acknowledged: GapMarks::default(),
            lost: Marks::default(),
            settled: Marks::default(),
            belief: Belief::default(),
            full: false,
            packets_lost: SmallVec::new(),
            several: SeveralPaths::default(),
        }
    }

    // ---- commands

    /// Chunks may be sent on `path` from now on.
    pub(super) fn add_path(&mut self, path: PathId) {
        self.counts.flights.push(Flight::none(path));
        self.packets_lost.push((path, 0));
    }

    /// `path` is no more, and nothing is in flight there.
    pub(super) fn remove_path(&mut self, path: PathId) {
        debug_assert_eq!(self.flight_size(path), 0);
        self.counts.flights.retain(|flight| flight.path != path);
        self.packets_lost.retain(|(id, _)| *id != path);
        self.several.late.retain(|late| late.path != path);
    }

    /// Appends a chunk that is being sent for the first time; its TSN is the one [`Self::next_tsn`] named. `leads`: it is the first one
    /// in its packet.
    pub(super) fn push(&mut self, piece: Piece, path: PathId, now: Instant, leads: bool) -> (Tsn, &Chunk) {
        let tsn = self.next_tsn();
        self.held_payload += piece.payload.len();
        self.chunks.push_back(Chunk {
            piece,
            sent_at: now,
            path,
            state: ChunkState::InFlight,
            has_left: false,
            retransmitted: false,
            other_bit: false,
            packet: leads.into(),
            several_paths: false,
            misses: Misses::default(),
        });
        self.belief.on_sent();
        let chunk = self.chunks.back().expect("just pushed");
        self.counts.add(chunk);
        (tsn, chunk)
    }

    /// Notes that the lost chunk `tsn` is being sent again on `path`. `leads`: it is the first one in its packet.
    pub(super) fn retransmit(&mut self, tsn: Tsn, path: PathId, now: Instant, leads: bool) {
        let index = tsn.distance_from(self.base) as usize;
        let chunk = &mut self.chunks[index];
        debug_assert!(matches!(chunk.state, ChunkState::Lost(_)));
        self.counts.remove(chunk);
        chunk.state = ChunkState::InFlight;
        chunk.retransmitted = true;
        chunk.other_bit = !chunk.other_bit;
        chunk.packet = leads.into();
        chunk.several_paths |= chunk.path != path;
        chunk.path = path;
        chunk.sent_at = now;
        chunk.misses.indications = 0;
        self.counts.add(chunk);
        self.mark(index);
        self.belief.on_sent();
    }

    /// All that is in flight has gone out once more as it was.
    pub(super) fn sent_again(&mut self, now: Instant) {
        for chunk in self.chunks.iter_mut().filter(|chunk| chunk.is_in_flight()) {
            (chunk.retransmitted, chunk.sent_at) = (true, now);
        }
    }

    /// The packet whose first chunk is `tsn` has this many bytes.
    pub(super) fn note_packet(&mut self, tsn: Tsn, bytes: usize) {
        if let Some(chunk) = self.chunks.get_mut(tsn.distance_from(self.base) as usize) {
            chunk.packet = u16::try_from(bytes).unwrap_or(u16::MAX);
        }
    }

    /// A copy of the chunk `tsn` goes out on another path.
    pub(super) fn note_copied(&mut self, tsn: Tsn) {
        if let Some(chunk) = self.chunks.get_mut(tsn.distance_from(self.base) as usize) {
            chunk.several_paths = true;
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

    /// `path` works again: it has nothing against it any more that a timer called chunks lost there.
    pub(super) fn forgive(&mut self, path: PathId) {
        let late = |&(_, chunk, loss): &(Tsn, &Chunk, Loss)| chunk.path == path && loss == Loss::Timeout;
        let late: Vec<Tsn> = self.lost().filter(late).map(|(tsn, ..)| tsn).collect();
        for tsn in late {
            self.set_state(tsn.distance_from(self.base) as usize, ChunkState::Lost(Loss::Outage));
        }
    }

    /// Moves the chunk at `index` from one state to another.
    fn set_state(&mut self, index: usize, state: ChunkState) {
        let chunk = &mut self.chunks[index];
        self.counts.remove(chunk);
        chunk.state = state;
        chunk.has_left = false;
        self.counts.add(chunk);
        if matches!(state, ChunkState::Lost(Loss::Missing | Loss::Timeout)) && chunk.packet > 0 {
            let path = chunk.path;
            self.note_lost(path);
        }
        self.mark(index);
    }

    /// Brings the sets up to date with the chunk at `index`.
    fn mark(&mut self, index: usize) {
        let (number, chunk) = (self.done + index as u64, &self.chunks[index]);
        let acknowledged = chunk.state == ChunkState::GapAcknowledged;
        self.gap_acknowledged.all.put(number, acknowledged);
        self.gap_acknowledged.renegable.put(number, acknowledged && !chunk.is_released());
        self.lost.put(number, matches!(chunk.state, ChunkState::Lost(_)));
        self.settled.put(number, chunk.state != ChunkState::InFlight || chunk.misses.fast_retransmitted);
    }

    // ---- inputs

    /// Applies a SACK (RFC 9260 §6.2.1, §7.2.4), or an NR-SACK. `gaps` are (start, end) offsets from the Cumulative TSN Ack, as on the
    /// wire, and so are those `kept`, of what the receiver says that it will not drop (NR-SACK draft). Nonsensical blocks are ignored.
    pub(super) fn on_sack(
        &mut self,
        cumulative: Tsn,
        gaps: impl Iterator<Item = (u16, u16)> + Clone,
        kept: impl Iterator<Item = (u16, u16)> + Clone,
        loss: &mut dyn LossDetection,
        met: Circumstances<'_>,
    ) -> Result<Report, SackError> {
        let highest = gaps.clone().chain(kept.clone()).map(|(_, end)| end as usize).max().unwrap_or(0);
        let mut report = self.acknowledge_up_to(cumulative, highest)?;
        report.after_full = core::mem::take(&mut self.full);
        if highest > 0 || self.counts.gap_acknowledged > 0 || met.recovery.is_active() || loss.is_waiting() {
            let believed = self.belief.is_left();
            let blocks = sane_blocks(gaps).take_while(move |_| believed);
            let kept = sane_blocks(kept).take_while(move |_| believed);
            let mut acks = GapAcks::default();
            self.acknowledge_gaps(blocks.clone(), &mut acks, &mut report);
            self.acknowledge_gaps(kept.clone(), &mut acks, &mut report);
            self.full = acks.blocks >= LEAST_ROOM;
            let less = self.counts.renegable() > acks.count;
            if less
                && acks.newly_end == 0
                && !report.cumulative_advanced
                && met.overtaken == OvertakenSacks::Ignored
            {
                return Err(SackError::Old);
            }
            kept.for_each(|block| self.release(block, &mut report));
            let news = SackNews { end: acks.end, newly_end: acks.newly_end, blocks: acks.blocks, met };
            loss.on_sack(&news, self, &mut report);
            // After the above, so that one SACK never counts twice against a chunk.
            if less {
                let leaves_out = self.full && met.overtaken == OvertakenSacks::Ignored;
                let told = if leaves_out { acks.end } else { self.chunks.len() };
                self.renege(blocks, told, loss, &mut report);
            }
        }
        Ok(report)
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
        if self.chunks.get(advance).is_some_and(Chunk::is_released) {
            return Err(SackError::Withdrawn);
        }
        let mut report = Report { cumulative_advanced: advance > 0, ..Report::default() };
        for _ in 0..advance {
            let chunk = self.chunks.pop_front().expect("advance was checked");
            let tsn = self.base;
            self.base = tsn.next();
            self.counts.remove(&chunk);
            report.released += chunk.payload_len();
            self.held_payload -= chunk.payload_len();
            if chunk.state == ChunkState::GapAcknowledged {
                report.bridged = true;
            } else {
                report.acked(tsn, &chunk);
            }
        }
        self.done += advance as u64;
        let GapMarks { all, renegable } = &mut self.gap_acknowledged;
        for marks in [all, renegable, &mut self.lost, &mut self.settled] {
            marks.forget_before(self.done);
        }
        Ok(report)
    }

    /// Applies gap ack blocks.
    fn acknowledge_gaps(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        acks: &mut GapAcks,
        report: &mut Report,
    ) {
        for block in blocks {
            acks.blocks += 1;
            acks.end = acks.end.max(block.end);
            let numbers = self.numbers(block);
            let mut from = numbers.start;
            while let Some(number) = self.gap_acknowledged.all.next_unmarked(from..numbers.end) {
                from = number + 1;
                let index = (number - self.done) as usize;
                let chunk = &mut self.chunks[index];
                report.acked(self.base.plus(index as u32), chunk);
                // Only consecutive miss indications count (RFC 9260 §7.2.4).
                chunk.misses.indications = 0;
                self.set_state(index, ChunkState::GapAcknowledged);
                acks.newly_end = acks.newly_end.max(index + 1);
            }
            acks.count += self.count_renegable(numbers);
        }
    }

    /// The chunk at `index` is lost, says loss detection: once until T3-rtx expires (RFC 9260 §7.2.4 step 5).
    pub(super) fn lose(&mut self, index: usize, report: &mut Report) {
        let chunk = &mut self.chunks[index];
        chunk.misses.fast_retransmitted = true;
        report.lost(self.base.plus(index as u32), chunk);
        self.set_state(index, ChunkState::Lost(Loss::Missing));
    }

    /// Nothing speaks against the chunk `tsn` any more but what was sent after it.
    pub(super) fn settle(&mut self, tsn: Tsn) {
        let index = tsn.distance_from(self.base) as usize;
        self.chunks[index].misses.fast_retransmitted = true;
        self.mark(index);
    }

    /// The first chunk in this range of indices that miss indications count for.
    pub(super) fn next_suspect(&self, indices: Range<usize>) -> Option<usize> {
        let number = self.settled.next_unmarked(self.numbers(indices))?;
        Some((number - self.done) as usize)
    }

    /// The miss indications of the chunk at `index`, and its path; `None` unless they count.
    pub(super) fn suspected(&mut self, index: usize) -> Option<(&mut Misses, PathId)> {
        let counts =
            |chunk: &&mut Chunk| chunk.state == ChunkState::InFlight && !chunk.misses.fast_retransmitted;
        let chunk = self.chunks.get_mut(index).filter(counts)?;
        Some((&mut chunk.misses, chunk.path))
    }

    /// The miss indications of the chunk at `index`, which is in flight, and its path.
    pub(super) fn misses(&mut self, index: usize) -> Option<(&mut Misses, PathId)> {
        self.chunks.get_mut(index).map(|chunk| (&mut chunk.misses, chunk.path))
    }

    /// The chunks with these indices, as they are numbered in the sets.
    fn numbers(&self, indices: Range<usize>) -> Range<u64> {
        self.done + indices.start as u64..self.done + indices.end as u64
    }
}

#[cfg(test)]
#[path = "outstanding_tests.rs"]
mod tests;
