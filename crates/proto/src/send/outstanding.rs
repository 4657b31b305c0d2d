use core::ops::Range;
use std::collections::VecDeque;

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_wire::{DATA_HEADER_LEN, Data, PayloadProtocolId, Ssn, StreamId, Tsn};

use super::sack_report::SackReport;
use crate::interface::PathId;

/// Where a DATA chunk stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChunkState {
    /// Sent, fate unknown; counts in its path's flight size.
    InFlight,
    /// Acknowledged by a gap ack block, which is advisory: the receiver may renege (RFC 9260 §6.2.1 D iii).
    GapAcknowledged,
    /// To be retransmitted; counts in no flight size.
    Lost(Loss),
}

/// How a loss was noticed; decides where the chunk goes next (RFC 9260 §6.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loss {
    /// Three miss indications: again on the same path.
    Missing,
    /// T3-rtx expired: on another path where there is one.
    Timeout,
}

/// A DATA chunk that has a TSN. The TSN is its position in [`Outstanding`].
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) payload: Bytes,
    pub(crate) sent_at: Instant,
    pub(crate) ppid: PayloadProtocolId,
    /// The path it was last sent on.
    pub(crate) path: PathId,
    pub(crate) stream: StreamId,
    pub(crate) ssn: Ssn,
    pub(crate) state: ChunkState,
    pub(crate) unordered: bool,
    pub(crate) beginning: bool,
    pub(crate) ending: bool,
    pub(crate) immediate: bool,
    pub(crate) retransmitted: bool,
    /// Sent on more than one path, so that an acknowledgement says nothing about either (RFC 7829 §3.2 rule 9).
    pub(crate) several_paths: bool,
    miss_indications: u8,
    /// Ineligible for another fast retransmit (RFC 9260 §7.2.4 step 5).
    fast_retransmitted: bool,
}

impl Chunk {
    /// Length on the wire with header and padding: what cwnd and flight size count (RFC 9260 §7.2).
    pub(crate) fn wire_len(&self) -> usize {
        data_chunk_len(self.payload.len())
    }
}

/// Length on the wire of a DATA chunk with this much user data, padding included.
pub(crate) const fn data_chunk_len(payload: usize) -> usize {
    (DATA_HEADER_LEN + payload + 3) & !3
}

/// Why a SACK cannot be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SackError {
    /// Older than what we know: reordered on the way, to be ignored (RFC 9260 §6.2.1 D i).
    Old,
    /// Acknowledges a TSN never sent (RFC 5062 §5: answer with ABORT).
    NeverSent,
}

/// What the gap ack blocks of a SACK covered.
#[derive(Debug, Default)]
struct GapAcks {
    /// Chunks covered.
    count: usize,
    /// One more than the highest index covered.
    end: usize,
    /// One more than the highest index newly acknowledged: the HTNA (RFC 9260 §7.2.4).
    newly_end: usize,
}

/// The gap ack blocks as ranges of indices. Offset 1 is the chunk after the cumulative TSN, which a gap cannot
/// acknowledge, and blocks must ascend; anything else is nonsense and carries no information.
fn sane_blocks(gaps: impl Iterator<Item = (u16, u16)> + Clone) -> impl Iterator<Item = Range<usize>> + Clone {
    gaps.scan(1, |last, (start, end)| {
        let sane = start > *last && end >= start;
        if sane {
            *last = end;
        }
        Some(sane.then(|| usize::from(start) - 1..usize::from(end)))
    })
    .flatten()
}

/// DATA chunks that have been sent and not yet cumulatively acknowledged: a ring indexed by TSN − base, since
/// TSNs are dense.
#[derive(Debug)]
pub(crate) struct Outstanding {
    /// TSN of the first chunk: Cumulative TSN Ack Point + 1.
    base: Tsn,
    chunks: VecDeque<Chunk>,
    lost: usize,
    /// No chunk below this index is lost.
    first_lost: usize,
    gap_acknowledged: usize,
    /// Bytes of user data in flight, for the peer's rwnd.
    in_flight_payload: usize,
    /// Bytes of user data held.
    held_payload: usize,
    /// Miss indications that trigger a fast retransmit (RFC 9260 §7.2.4).
    miss_threshold: u8,
}

impl Outstanding {
    pub(crate) fn new(initial_tsn: Tsn, miss_threshold: u8) -> Self {
        Self {
            base: initial_tsn,
            miss_threshold,
            chunks: VecDeque::new(),
            lost: 0,
            first_lost: 0,
            gap_acknowledged: 0,
            in_flight_payload: 0,
            held_payload: 0,
        }
    }

    // ---- commands

    /// Appends a chunk that is being sent for the first time; its TSN is the one [`Self::next_tsn`] named.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn push(&mut self, piece: super::streams::Piece, path: PathId, now: Instant) -> (Tsn, &Chunk) {
        let tsn = self.next_tsn();
        self.in_flight_payload += piece.payload.len();
        self.held_payload += piece.payload.len();
        self.chunks.push_back(Chunk {
            payload: piece.payload,
            sent_at: now,
            ppid: piece.ppid,
            path,
            stream: piece.stream,
            ssn: piece.ssn,
            state: ChunkState::InFlight,
            unordered: piece.unordered,
            beginning: piece.beginning,
            ending: piece.ending,
            immediate: piece.immediate,
            retransmitted: false,
            several_paths: false,
            miss_indications: 0,
            fast_retransmitted: false,
        });
        (tsn, self.chunks.back().expect("just pushed"))
    }

    /// Notes that the lost chunk `tsn` is being sent again on `path`.
    pub(crate) fn retransmit(&mut self, tsn: Tsn, path: PathId, now: Instant) {
        let index = tsn.distance_from(self.base) as usize;
        let chunk = &mut self.chunks[index];
        debug_assert!(matches!(chunk.state, ChunkState::Lost(_)));
        chunk.state = ChunkState::InFlight;
        chunk.retransmitted = true;
        chunk.several_paths |= chunk.path != path;
        chunk.path = path;
        chunk.sent_at = now;
        chunk.miss_indications = 0;
        self.in_flight_payload += chunk.payload.len();
        self.lost -= 1;
        if index == self.first_lost {
            self.first_lost += 1;
        }
    }

    /// Marks everything in flight on `path` for retransmission (RFC 9260 §6.3.3 E3). Returns the wire bytes.
    pub(crate) fn mark_timed_out(&mut self, path: PathId) -> usize {
        let mut bytes = 0;
        for (index, chunk) in self.chunks.iter_mut().enumerate() {
            if chunk.path == path && chunk.state == ChunkState::InFlight {
                bytes += chunk.wire_len();
                self.in_flight_payload -= chunk.payload.len();
                chunk.state = ChunkState::Lost(Loss::Timeout);
                chunk.miss_indications = 0;
                chunk.fast_retransmitted = false;
                self.lost += 1;
                self.first_lost = self.first_lost.min(index);
            }
        }
        self.check();
        bytes
    }

    /// Chunks last sent on `from` count for `to` from now on, since that path is no more. None of them is in flight; some
    /// may be acknowledged by a gap ack block, and if the receiver reneges they must belong to some path.
    pub(crate) fn reassign(&mut self, from: PathId, to: PathId) {
        for chunk in self.chunks.iter_mut().filter(|chunk| chunk.path == from) {
            debug_assert_ne!(chunk.state, ChunkState::InFlight);
            if chunk.state == ChunkState::GapAcknowledged {
                chunk.path = to;
                chunk.several_paths = true;
            }
        }
    }

    // ---- inputs

    /// Applies a SACK (RFC 9260 §6.2.1, §7.2.4). `gaps` are (start, end) offsets from the cumulative TSN, as on the
    /// wire; nonsensical blocks are ignored.
    pub(crate) fn on_sack(
        &mut self,
        cumulative: Tsn,
        gaps: impl Iterator<Item = (u16, u16)> + Clone,
        in_fast_recovery: bool,
    ) -> Result<SackReport, SackError> {
        let point = self.cumulative_ack_point();
        if cumulative.precedes(point) {
            return Err(SackError::Old);
        }
        let advance = cumulative.distance_from(point) as usize;
        let highest = gaps.clone().map(|(_, end)| end as usize).max().unwrap_or(0);
        if advance + highest > self.chunks.len() {
            return Err(SackError::NeverSent);
        }
        let mut report = SackReport { cumulative_advanced: advance > 0, ..SackReport::default() };
        self.acknowledge_cumulatively(advance, &mut report);
        if highest > 0 || self.gap_acknowledged > 0 {
            let blocks = sane_blocks(gaps);
            let acknowledged = self.acknowledge_gaps(blocks.clone(), &mut report);
            let all_missing = in_fast_recovery && report.cumulative_advanced;
            let horizon = if all_missing { acknowledged.end } else { acknowledged.newly_end };
            self.count_missing(horizon, &mut report);
            // After the above, so that one SACK never counts twice against a chunk.
            if self.gap_acknowledged > acknowledged.count {
                self.renege(blocks, &mut report);
            }
        }
        self.check();
        Ok(report)
    }

    /// Applies the Cumulative TSN Ack of a SHUTDOWN, which says nothing about gaps (RFC 9260 §3.3.8).
    pub(crate) fn acknowledge_up_to(&mut self, cumulative: Tsn) -> Result<SackReport, SackError> {
        let point = self.cumulative_ack_point();
        if cumulative.precedes(point) {
            return Err(SackError::Old);
        }
        let advance = cumulative.distance_from(point) as usize;
        if advance > self.chunks.len() {
            return Err(SackError::NeverSent);
        }
        let mut report = SackReport { cumulative_advanced: advance > 0, ..SackReport::default() };
        self.acknowledge_cumulatively(advance, &mut report);
        // Had the receiver kept the next chunk, it would be acknowledged cumulatively now: it was dropped (RFC 9260
        // §6.2.1 D iii). Nothing else may ever tell, as SHUTDOWN has no gap ack blocks.
        if !self.chunks.is_empty() {
            self.renege(core::iter::once(1..self.chunks.len()), &mut report);
        }
        self.check();
        Ok(report)
    }

    /// Drops the first `advance` chunks.
    fn acknowledge_cumulatively(&mut self, advance: usize, report: &mut SackReport) {
        for _ in 0..advance {
            let chunk = self.chunks.pop_front().expect("advance was checked");
            let tsn = self.base;
            self.base = self.base.next();
            report.released += chunk.payload.len();
            self.held_payload -= chunk.payload.len();
            match chunk.state {
                ChunkState::GapAcknowledged => {
                    self.gap_acknowledged -= 1;
                    continue;
                }
                ChunkState::InFlight => self.in_flight_payload -= chunk.payload.len(),
                ChunkState::Lost(_) => self.lost -= 1,
            }
            report.acked(tsn, &chunk);
        }
        self.first_lost = self.first_lost.saturating_sub(advance);
    }

    /// Applies the gap ack blocks.
    fn acknowledge_gaps(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        report: &mut SackReport,
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
                report.acked(self.base.plus(index as u32), chunk);
                match chunk.state {
                    ChunkState::InFlight => self.in_flight_payload -= chunk.payload.len(),
                    _ => self.lost -= 1,
                }
                chunk.state = ChunkState::GapAcknowledged;
                // Only consecutive miss indications count (RFC 9260 §7.2.4).
                chunk.miss_indications = 0;
                self.gap_acknowledged += 1;
                acks.newly_end = index + 1;
            }
        }
        acks
    }

    /// Chunks that the blocks cover no longer are in flight again, with one miss indication: the receiver has dropped
    /// them (RFC 9260 §6.2.1 D iii).
    fn renege(&mut self, blocks: impl Iterator<Item = Range<usize>>, report: &mut SackReport) {
        let mut from = 0;
        for block in blocks.chain(core::iter::once(self.chunks.len()..self.chunks.len())) {
            for index in from..block.start {
                let chunk = &mut self.chunks[index];
                if chunk.state == ChunkState::GapAcknowledged {
                    chunk.state = ChunkState::InFlight;
                    self.gap_acknowledged -= 1;
                    self.in_flight_payload += chunk.payload.len();
                    let (path, len) = (chunk.path, chunk.wire_len());
                    report.path(path, self.base.plus(index as u32)).reneged += len;
                    self.count_miss(index, report);
                }
            }
            from = block.end;
        }
    }

    /// Miss indications for everything unacknowledged below `horizon` (RFC 9260 §7.2.4, HTNA).
    fn count_missing(&mut self, horizon: usize, report: &mut SackReport) {
        for index in 0..horizon {
            if self.chunks[index].state == ChunkState::InFlight {
                self.count_miss(index, report);
            }
        }
    }

    /// One miss indication for a chunk in flight (RFC 9260 §7.2.4).
    fn count_miss(&mut self, index: usize, report: &mut SackReport) {
        let chunk = &mut self.chunks[index];
        if chunk.fast_retransmitted {
            return;
        }
        chunk.miss_indications = chunk.miss_indications.saturating_add(1);
        if chunk.miss_indications >= self.miss_threshold {
            chunk.state = ChunkState::Lost(Loss::Missing);
            chunk.fast_retransmitted = true;
            self.in_flight_payload -= chunk.payload.len();
            self.lost += 1;
            self.first_lost = self.first_lost.min(index);
            let (path, len) = (chunk.path, chunk.wire_len());
            report.path(path, self.base.plus(index as u32)).lost += len;
        }
    }

    // ---- views

    /// TSN the next new chunk gets.
    pub(crate) fn next_tsn(&self) -> Tsn {
        self.base.plus(self.chunks.len() as u32)
    }

    /// Highest TSN sent, or the cumulative ack point when nothing is outstanding.
    pub(crate) fn highest_tsn(&self) -> Tsn {
        self.next_tsn().prev()
    }

    /// Everything up to and including this TSN has been acknowledged for good.
    pub(crate) fn cumulative_ack_point(&self) -> Tsn {
        self.base.prev()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Bytes of user data in flight on all paths.
    pub(crate) fn in_flight_payload(&self) -> usize {
        self.in_flight_payload
    }

    /// Bytes of user data not yet cumulatively acknowledged.
    pub(crate) fn held_payload(&self) -> usize {
        self.held_payload
    }

    pub(crate) fn get(&self, tsn: Tsn) -> Option<&Chunk> {
        self.chunks.get(tsn.distance_from(self.base) as usize)
    }

    /// Lost chunks, lowest TSN first.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (Tsn, &Chunk, Loss)> {
        let start = if self.lost == 0 { self.chunks.len() } else { self.first_lost.min(self.chunks.len()) };
        self.chunks.range(start..).enumerate().filter_map(move |(offset, chunk)| match chunk.state {
            ChunkState::Lost(loss) => Some((self.base.plus((start + offset) as u32), chunk, loss)),
            _ => None,
        })
    }

    /// Lowest TSN in flight on `path`.
    pub(crate) fn earliest_in_flight(&self, path: PathId) -> Option<Tsn> {
        let index = self.chunks.iter().position(|c| c.path == path && c.state == ChunkState::InFlight)?;
        Some(self.base.plus(index as u32))
    }

    /// The chunk as it goes on the wire.
    pub(crate) fn data(tsn: Tsn, chunk: &Chunk) -> Data<'_> {
        Data {
            immediate: chunk.immediate,
            unordered: chunk.unordered,
            beginning: chunk.beginning,
            ending: chunk.ending,
            tsn,
            stream: chunk.stream,
            ssn: chunk.ssn,
            ppid: chunk.ppid,
            payload: &chunk.payload,
        }
    }

    #[cfg(not(any(test, fuzzing, debug_assertions)))]
    fn check(&self) {}

    #[cfg(any(test, fuzzing, debug_assertions))]
    fn check(&self) {
        // A full walk after every SACK is quadratic on long windows; the fuzz and unit tests stay small.
        if self.chunks.len() <= 256 {
            self.invariants();
        }
    }

    /// The counters agree with the chunks.
    #[cfg(any(test, fuzzing, debug_assertions))]
    pub(crate) fn invariants(&self) {
        let count = |wanted: fn(&Chunk) -> bool| self.chunks.iter().filter(|c| wanted(c)).count();
        assert_eq!(self.lost, count(|c| matches!(c.state, ChunkState::Lost(_))));
        assert_eq!(self.gap_acknowledged, count(|c| c.state == ChunkState::GapAcknowledged));
        let in_flight = |c: &&Chunk| c.state == ChunkState::InFlight;
        let bytes = |c: &Chunk| c.payload.len();
        assert_eq!(self.in_flight_payload, self.chunks.iter().filter(in_flight).map(bytes).sum::<usize>());
        assert_eq!(self.held_payload, self.chunks.iter().map(bytes).sum::<usize>());
        let first = self.chunks.iter().position(|c| matches!(c.state, ChunkState::Lost(_)));
        assert!(first.is_none_or(|first| self.first_lost <= first));
    }
}

#[cfg(test)]
#[path = "outstanding_tests.rs"]
mod tests;
