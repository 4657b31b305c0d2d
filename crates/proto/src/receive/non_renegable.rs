//! What of the chunks beyond gaps may still be dropped (NR-SACK draft): those that are held. What has been delivered may not.

use core::ops::Range;

use whimbrel_wire::GapAckBlock;

/// Runs of chunks that are held, at most, that are told apart for one SACK. Behind them nothing is said to be there for good.
const MAX_RUNS: usize = 1_024;

/// Gap ack blocks by whether what they cover may be dropped, each kind in ascending order.
#[derive(Debug, Default)]
pub(super) struct Split {
    pub(super) renegable: Vec<GapAckBlock>,
    pub(super) non_renegable: Vec<GapAckBlock>,
}

impl Split {
    /// Splits `blocks`, which are offsets from `cumulative`, by the runs of positions that are `held`, in ascending order. The lowest come first, until there
    /// are `max` in both lists.
    pub(super) fn make(
        &mut self,
        blocks: &[GapAckBlock],
        cumulative: u64,
        held: impl Iterator<Item = Range<u64>>,
        max: usize,
    ) {
        self.renegable.clear();
        self.non_renegable.clear();
        let mut held = held.take(MAX_RUNS + 1).enumerate().map(|(number, run)| {
            let end = if number < MAX_RUNS { run.end } else { u64::MAX };
            run.start..end
        });
        let mut run = held.next();
        for block in blocks {
            let (mut from, end) =
                (cumulative + u64::from(block.start), cumulative + u64::from(block.end) + 1);
            while from < end {
                while run.as_ref().is_some_and(|run| run.end <= from) {
                    run = held.next();
                }
                let (start, stop) = run.as_ref().map_or((end, end), |run| (run.start, run.end.min(end)));
                let is_held = start <= from;
                let until = if is_held { stop } else { start.min(end) };
                let is_full = self.renegable.len() + self.non_renegable.len() >= max;
                let list = if is_held { &mut self.renegable } else { &mut self.non_renegable };
                let piece =
                    GapAckBlock { start: (from - cumulative) as u16, end: (until - 1 - cumulative) as u16 };
                match list.last_mut().filter(|last| last.end + 1 == piece.start) {
                    Some(last) => last.end = piece.end,
                    None if is_full => return,
                    None => list.push(piece),
                }
                from = until;
            }
        }
    }
}

#[cfg(test)]
#[path = "non_renegable_tests.rs"]
mod tests;
