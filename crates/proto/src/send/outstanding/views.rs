//! What is outstanding, for those who want to know.

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::Outstanding;
use crate::interface::PathId;
use crate::send::chunk::{Chunk, ChunkState, Loss};

impl Outstanding {
    /// TSN the next new chunk gets.
    pub(in crate::send) fn next_tsn(&self) -> Tsn {
        self.base.plus(self.chunks.len() as u32)
    }

    /// Highest TSN sent, or the Cumulative TSN Ack Point when nothing is outstanding.
    pub(in crate::send) fn highest_tsn(&self) -> Tsn {
        self.next_tsn().prev()
    }

    /// Everything up to and including this TSN has been acknowledged for good.
    pub(in crate::send) fn cumulative_ack_point(&self) -> Tsn {
        self.base.prev()
    }

    pub(in crate::send) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(in crate::send) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Bytes of user data that are to go out again.
    pub(in crate::send) fn lost_payload(&self) -> usize {
        self.counts.lost_payload
    }

    pub(in crate::send) fn has_lost(&self) -> bool {
        self.counts.lost > 0
    }

    /// Where and how chunks were lost that have not been sent again, each once.
    pub(in crate::send) fn losses(&self) -> impl Iterator<Item = (PathId, Loss)> {
        self.counts.losses.iter().map(|&(path, loss, _)| (path, loss))
    }

    /// Bytes on the wire in flight on `path`; 0 if there is no such path.
    pub(in crate::send) fn flight_size(&self, path: PathId) -> usize {
        self.counts.flights.iter().find(|flight| flight.path == path).map_or(0, |flight| flight.bytes)
    }

    /// How many packets have been lost on `path` since this was last asked.
    pub(in crate::send) fn take_lost(&mut self, path: PathId) -> u32 {
        let lost = self.packets_lost.iter_mut().find(|(id, _)| *id == path);
        lost.map_or(0, |(_, packets)| core::mem::take(packets))
    }

    /// Bytes of the largest packet in flight on `path`.
    pub(in crate::send) fn largest_in_flight(&self, path: PathId) -> usize {
        let in_flight = (0..self.chunks.len()).filter(|&index| self.is_in_flight_on(index, path));
        in_flight.map(|index| self.chunks[index].packet.into()).max().unwrap_or(0)
    }

    /// Bytes of user data in flight on all paths.
    pub(in crate::send) fn in_flight_payload(&self) -> usize {
        self.counts.payload
    }

    /// Bytes of user data not yet cumulatively acknowledged.
    pub(in crate::send) fn held_payload(&self) -> usize {
        self.held_payload
    }

    /// Bytes of user data last sent on `path` and not yet cumulatively acknowledged.
    pub(in crate::send) fn held_on(&self, path: PathId) -> usize {
        self.counts.flights.iter().find(|flight| flight.path == path).map_or(0, |flight| flight.held)
    }

    pub(in crate::send) fn get(&self, tsn: Tsn) -> Option<&Chunk> {
        self.chunks.get(tsn.distance_from(self.base) as usize)
    }

    /// Lost chunks, lowest TSN first.
    pub(in crate::send) fn lost(&self) -> impl Iterator<Item = (Tsn, &Chunk, Loss)> {
        let end = self.done + self.chunks.len() as u64;
        let mut from = if self.has_lost() { self.done } else { end };
        core::iter::from_fn(move || {
            let number = self.lost.next(from..end)?;
            from = number + 1;
            let index = (number - self.done) as usize;
            let chunk = &self.chunks[index];
            let ChunkState::Lost(loss) = chunk.state else { return None };
            Some((self.base.plus(index as u32), chunk, loss))
        })
    }

    /// Lowest TSN in flight on `path`.
    pub(in crate::send) fn earliest_in_flight(&self, path: PathId) -> Option<Tsn> {
        self.earliest_in_flight_from(self.base, path)
    }

    /// Lowest TSN in flight on `path` of those from `tsn` on, which may have been acknowledged already.
    pub(in crate::send) fn earliest_in_flight_from(&self, tsn: Tsn, path: PathId) -> Option<Tsn> {
        let first = if tsn.precedes(self.base) { 0 } else { tsn.distance_from(self.base) as usize };
        let index = (first..self.chunks.len()).find(|&index| self.is_in_flight_on(index, path))?;
        Some(self.base.plus(index as u32))
    }

    /// Whether chunks have arrived before which others are missing.
    pub(in crate::send) fn has_gaps(&self) -> bool {
        self.counts.gap_acknowledged > 0
    }

    /// Whether the chunk `tsn` is in flight on `path`.
    pub(in crate::send) fn is_in_flight_by(&self, tsn: Tsn, path: PathId) -> bool {
        self.get(tsn).is_some_and(|chunk| chunk.path == path && chunk.state == ChunkState::InFlight)
    }

    /// When the first packet was sent that has left after the one with the chunk `tsn` and is in flight on `path`, too; not looked for far.
    /// One that had left before a retransmission is none.
    pub(in crate::send) fn next_packet_in_flight(&self, tsn: Tsn, path: PathId) -> Option<Instant> {
        /// Chunks in a packet, as a rule, and of other paths between two of them.
        const FAR: usize = 64;
        let from = tsn.distance_from(self.base) as usize + 1;
        let since = self.get(tsn)?.sent_at;
        let near = self.chunks.range(from..self.chunks.len().min(from + FAR));
        let follows = |chunk: &&Chunk| {
            let in_flight = chunk.path == path && chunk.state == ChunkState::InFlight;
            in_flight && chunk.packet > 0 && chunk.sent_at >= since
        };
        near.into_iter().find(follows).map(|chunk| chunk.sent_at)
    }

    pub(super) fn is_in_flight_on(&self, index: usize, path: PathId) -> bool {
        let chunk = &self.chunks[index];
        chunk.path == path && chunk.state == ChunkState::InFlight
    }
}
