use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::Outstanding;
use crate::interface::PathId;
use crate::send::chunk::{ChunkState, Loss, Misses};

impl Outstanding {
    /// The chunk `tsn`, which is in flight, is to go out again.
    pub(in crate::send) fn lose_one(&mut self, tsn: Tsn) {
        let index = tsn.distance_from(self.base) as usize;
        debug_assert_eq!(self.chunks[index].state, ChunkState::InFlight);
        // Whether it is lost nobody knows yet: `note_lost` counts it.
        let packet = core::mem::take(&mut self.chunks[index].packet);
        self.set_state(index, ChunkState::Lost(Loss::Timeout));
        self.chunks[index].packet = packet;
        self.chunks[index].misses = Misses::default();
    }

    /// What was called lost on `path`, and has not been sent again, is in flight after all.
    pub(in crate::send) fn restore(&mut self, path: PathId) {
        self.several.late.retain(|late| late.path != path);
        let end = self.done + self.chunks.len() as u64;
        let mut from = self.done;
        while let Some(number) = self.lost.next(from..end) {
            from = number + 1;
            let index = (number - self.done) as usize;
            if self.chunks[index].path == path {
                self.chunks[index].misses = Misses::default();
                self.set_state(index, ChunkState::InFlight);
            }
        }
    }

    /// One more packet has been lost on `path`.
    pub(in crate::send) fn note_lost(&mut self, path: PathId) {
        if let Some((_, packets)) = self.packets_lost.iter_mut().find(|(id, _)| *id == path) {
            *packets = packets.saturating_add(1);
        }
    }

    /// What is in flight on `path` since before `before` is lost; false if there is no such thing.
    pub(in crate::send) fn lose_older(&mut self, path: PathId, before: Instant, loss: Loss) -> bool {
        let mut any = false;
        for index in 0..self.chunks.len() {
            if self.is_in_flight_on(index, path) && self.chunks[index].sent_at < before {
                self.set_state(index, ChunkState::Lost(loss));
                self.chunks[index].misses = Misses::default();
                any = true;
            }
        }
        any
    }

    /// What is in flight on `path` in packets of more than `size` bytes is lost, by no fault of the path; false if there is no such thing.
    pub(in crate::send) fn lose_larger(&mut self, path: PathId, size: usize) -> bool {
        let (mut any, mut packet) = (false, 0);
        for index in 0..self.chunks.len() {
            // Only the first chunk of a packet knows its size.
            let leads = usize::from(self.chunks[index].packet);
            packet = if leads > 0 { leads } else { packet };
            if packet > size && self.is_in_flight_on(index, path) {
                self.set_state(index, ChunkState::Lost(Loss::Outage));
                any = true;
            }
        }
        any
    }
}
