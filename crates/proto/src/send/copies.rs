//! Copies of new DATA on other paths: of all (the redundant scheduler), or of urgent messages.
//!
//! A chunk is accounted for on the path that it was sent on first. A copy is in no flight size and is not retransmitted; it goes only where
//! there is room in the window of its path beside what that has in flight, and takes it for a round trip. (`second_way.rs` has copies for a path in doubt.) Nothing is acknowledged on behalf of a copy, so
//! that no window grows for it: what is sent in vain never exceeds the window that was there before.

use core::time::Duration;
use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::chunk::Chunk;
use super::sender::Sender;
use super::turn::{Content, Train, Turn, overhead};
use crate::auth::chunk_writer::ChunkWriter;
use crate::path::{Path, Paths};

/// Copies of urgent messages leave before new data, whose window they do not count for: they may be this part of the window at most.
const URGENT_PART: usize = 4;

/// What has gone out as a copy on one path.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Chunks before this one have had their turn.
    next: Option<Tsn>,
    /// When the copies of the last round trip left, and how many bytes they are.
    on_the_way: VecDeque<(Instant, usize)>,
}

impl Copies {
    pub(super) fn bytes(&self) -> usize {
        self.on_the_way.iter().map(|&(_, bytes)| bytes).sum()
    }

    /// When the last copy left that has not been forgotten.
    pub(super) fn last(&self) -> Option<Instant> {
        self.on_the_way.back().map(|&(sent_at, _)| sent_at)
    }

    /// What has left a round trip ago does not count any more.
    fn forget_old(&mut self, now: Instant, round_trip: Duration) {
        while self.on_the_way.front().is_some_and(|&(sent_at, _)| sent_at + round_trip <= now) {
            self.on_the_way.pop_front();
        }
    }
}

impl Sender {
    /// Whether a copy may leave now.
    pub(super) fn has_copy(&self, now: Instant, paths: &Paths) -> bool {
        self.may_copy()
            && self.scheduler.in_use(paths).into_iter().any(|id| {
                paths.get(id).is_some_and(|path| !self.to_copy(now, path, path.packet_size()).is_empty())
            })
    }

    /// A packet of copies for the first path that has room.
    pub(super) fn copy(&mut self, turn: &mut Turn<'_>) -> Option<Train> {
        self.outstanding.forget_urgent();
        if !self.may_copy() {
            return None;
        }
        for id in self.scheduler.in_use(turn.paths) {
            let Some(path) = turn.paths.get(id) else { continue };
            let round_trip = round_trip(path);
            if let Some(flow) = self.flow_mut(id) {
                flow.beside_mut().copies.forget_old(turn.now, round_trip);
            }
            let chosen = self.to_copy(turn.now, path, path.packet_size() - overhead(turn.auth));
            if let Some(last) = chosen.last() {
                let next = last.next();
                let train = self.write_copies(path, &chosen, turn);
                if let Some(flow) = self.flow_mut(id) {
                    flow.beside_mut().copies.next = Some(next);
                }
                return train;
            }
        }
        None
    }

    /// An urgent chunk has been sent.
    pub(super) fn note_urgent(&mut self, tsn: Tsn) {
        if self.multipath().scheduler.combines() {
            self.outstanding.note_urgent(tsn);
        }
    }

    /// Whether there can be anything to copy.
    fn may_copy(&self) -> bool {
        self.copies_all() || self.outstanding.has_urgent()
    }

    /// Whether everything is to be copied. While new data waits, here or for room in the buffers, a copy would take the room of that, and
    /// nothing measured what paths carry.
    pub(super) fn copies_all(&self) -> bool {
        let is_filled = self.outstanding.held_payload() * 2 >= self.buffers();
        self.multipath().scheduler.copies() && self.streams.is_empty() && !is_filled
    }

    /// Chunks that are to be copied on `path` and fit `room` bytes: what was sent on another one within the last round trip and is still in flight.
    fn to_copy(&self, now: Instant, path: &Path, room: usize) -> SmallVec<[Tsn; 8]> {
        let mut chosen = SmallVec::new();
        let Some(flow) = self.flow(path.id) else { return chosen };
        let copied = flow.beside().copies.bytes();
        let (round_trip, all) = (round_trip(path), self.copies_all());
        let too_many = !all && copied > 0 && copied >= flow.congestion.cwnd() / URGENT_PART;
        // After a timeout one packet goes (RFC 9260 §7.2.3), and it is not a copy.
        if too_many
            || !all && flow.one_packet
            || !flow.lets_out(self.outstanding.on_the_way(path.id) + copied)
        {
            return chosen;
        }
        let fresh = |chunk: &Chunk| {
            chunk.is_in_flight()
                && chunk.path != path.id
                && !chunk.retransmitted
                && chunk.sent_at + round_trip >= now
        };
        let mut used = 0;
        let next = flow.beside().copies.next.and_then(|next| self.outstanding.index_of(next));
        // What is beyond all is from 2³¹ TSNs ago.
        let from = next.filter(|&index| index <= self.outstanding.len()).unwrap_or(0);
        let candidates: &mut dyn Iterator<Item = usize> =
            if all { &mut (from..self.outstanding.len()) } else { &mut self.outstanding.urgent_from(from) };
        for index in candidates {
            let Some(chunk) = self.outstanding.at(index).filter(|chunk| fresh(chunk)) else { continue };
            let len = chunk.wire_len();
            if len > room {
                // It was cut for larger packets.
                continue;
            }
            used += len;
            if used > room {
                break;
            }
            chosen.push(self.outstanding.tsn(index));
        }
        chosen
    }

    pub(super) fn write_copies(&mut self, path: &Path, chosen: &[Tsn], turn: &mut Turn<'_>) -> Option<Train> {
        let &first = chosen.first()?;
        let start = turn.out.len();
        let mut writer = ChunkWriter::new(turn.auth, turn.out, turn.header, path.packet_size());
        for &tsn in chosen {
            let Some(chunk) = self.outstanding.get(tsn) else { break };
            if !writer.push(turn.auth, &chunk.data(tsn)) {
                break;
            }
            self.outstanding.note_copied(tsn);
        }
        writer.finish(turn.auth, turn.checksum);
        let segment = turn.out.len() - start;
        for flow in &mut self.flows {
            flow.timed.take_if(|(tsn, _)| chosen.contains(tsn));
        }
        let round_trip = round_trip(path);
        let flow = self.flow_mut(path.id)?;
        flow.beside_mut().copies.forget_old(turn.now, round_trip);
        flow.beside_mut().copies.on_the_way.push_back((turn.now, segment));
        Some(Train { path: path.id, content: Content::Copy, segment, first, t3: None, timed: false })
    }

    /// Whether the round trip of the chunk `tsn` can be told from its acknowledgement: of what is copied, a copy may be what has arrived. A path that
    /// carries nothing else is idle (RFC 9260 §8.3), and asked by HEARTBEATs.
    pub(super) fn is_timing(&self, tsn: Tsn) -> bool {
        let scheduler = self.multipath().scheduler;
        let urgent = || self.outstanding.get(tsn).is_some_and(|chunk| chunk.piece.urgent);
        !(self.copies_all() || scheduler.combines() && urgent())
    }
}

pub(super) fn round_trip(path: &Path) -> Duration {
    path.rto.srtt().unwrap_or_else(|| path.rto.current())
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
