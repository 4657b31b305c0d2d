//! What the receiver drops though it has acknowledged it (RFC 9260 §6.2.1 D iii), and what it has said that it will not drop (NR-SACK draft).

use core::ops::Range;

use bytes::Bytes;

use super::Outstanding;
use crate::send::chunk::{ChunkState, Loss};
use crate::send::loss::LossDetection;
use crate::send::report::Report;

impl Outstanding {
    /// Had the receiver kept the next chunk, it would be acknowledged cumulatively now: it was dropped (RFC 9260 §6.2.1 D
    /// iii). Nothing else may ever tell, as SHUTDOWN has no gap ack blocks.
    pub(in crate::send) fn renege_next(&mut self, loss: &mut dyn LossDetection, report: &mut Report) {
        if !self.chunks.is_empty() {
            self.renege(core::iter::once(1..self.chunks.len()), self.chunks.len(), loss, report);
        }
    }

    /// Chunks that the blocks cover no longer are in flight again, with one miss indication: the receiver has dropped
    /// them (RFC 9260 §6.2.1 D iii). Those from `told` on are what the SACK had no room for: more gaps before them are no sign that they were dropped.
    pub(super) fn renege(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        told: usize,
        loss: &mut dyn LossDetection,
        report: &mut Report,
    ) {
        let mut from = 0;
        for block in blocks.chain(core::iter::once(told..told)) {
            let mut numbers = self.numbers(from..block.start);
            while let Some(number) = self.gap_acknowledged.renegable.next(numbers.clone()) {
                numbers.start = number + 1;
                self.renege_one((number - self.done) as usize, loss, report);
            }
            from = block.end;
        }
    }

    fn renege_one(&mut self, index: usize, loss: &mut dyn LossDetection, report: &mut Report) {
        self.belief.on_reneged();
        let path = self.chunks[index].path;
        if !self.counts.flights.iter().any(|flight| flight.path == path) {
            // No timer guards anything on a path that has gone.
            self.set_state(index, ChunkState::Lost(Loss::Timeout));
            return;
        }
        report.path(path);
        self.set_state(index, ChunkState::InFlight);
        loss.on_reneged(index, self, report);
        if self.chunks[index].state == ChunkState::InFlight {
            let tsn = self.base.plus(index as u32);
            // The lowest comes first.
            report.path(path).reneged.get_or_insert(tsn);
        }
    }

    /// How many of the chunks with these numbers, all of which are acknowledged, the receiver may still drop.
    pub(super) fn count_renegable(&self, numbers: Range<u64>) -> usize {
        let all = (numbers.end - numbers.start) as usize;
        if self.counts.released == 0 { all } else { self.gap_acknowledged.renegable.count(numbers) }
    }

    /// The chunks with these indices, all of which are acknowledged, need not be sent again, whatever happens: their user data makes
    /// room. What else is known of them lasts until the Cumulative TSN Ack covers them.
    pub(super) fn release(&mut self, block: Range<usize>, report: &mut Report) {
        let mut numbers = self.numbers(block);
        while let Some(number) = self.gap_acknowledged.renegable.next(numbers.clone()) {
            numbers.start = number + 1;
            let index = (number - self.done) as usize;
            let chunk = &mut self.chunks[index];
            self.counts.remove(chunk);
            let payload = core::mem::replace(&mut chunk.piece.payload, Bytes::new());
            self.counts.add(chunk);
            self.held_payload -= payload.len();
            report.released += payload.len();
            self.mark(index);
        }
    }
}

#[cfg(test)]
#[path = "reneging_tests.rs"]
mod tests;
