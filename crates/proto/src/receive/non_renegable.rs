//! What of the chunks beyond gaps may still be dropped (NR-SACK draft): those that are held. What has been delivered may not.

use core::ops::Range;

use whimbrel_wire::GapAckBlock;

use super::sacks::KEPT_BLOCKS;

/// Runs of chunks that are held, at most, that are told apart for one SACK. Behind them nothing is said to be there for good.
const MAX_RUNS: usize = 1_024;

/// Gap ack blocks by whether what they cover may be dropped, each kind in ascending order.
#[derive(Debug, Default)]
pub(super) struct Split {
    pub(super) renegable: Vec<GapAckBlock>,
    pub(super) non_renegable: Vec<GapAckBlock>,
}

impl Split {
    /// Splits `blocks`, which are offsets from `cumulative`, by the runs of positions that are `held`, in ascending order. There are `max` in both lists at
    /// most, if there are no more `blocks` than that: where they run short, a block that would be several is said to be one that may be dropped.
    pub(super) fn make(
        &mut self,
        blocks: &[GapAckBlock],
        cumulative: u64,
        held: impl Iterator<Item = Range<u64>>,
        max: usize,
    ) {
        for list in [&mut self.renegable, &mut self.non_renegable] {
            list.clear();
            list.shrink_to(KEPT_BLOCKS);
        }
        let mut held = held.take(MAX_RUNS + 1).enumerate().map(|(number, run)| {
            let end = if number < MAX_RUNS { run.end } else { u64::MAX };
            run.start..end
        });
        let mut run = held.next();
        for (number, block) in blocks.iter().enumerate() {
            let before = (self.renegable.len(), self.non_renegable.len());
            let (mut from, end) =
                (cumulative + u64::from(block.start), cumulative + u64::from(block.end) + 1);
            while from < end {
                while run.as_ref().is_some_and(|run| run.end <= from) {
                    run = held.next();
                }
                let (start, stop) = run.as_ref().map_or((end, end), |run| (run.start, run.end.min(end)));
                let is_held = start <= from;
                let until = if is_held { stop } else { start.min(end) };
                let list = if is_held { &mut self.renegable } else { &mut self.non_renegable };
                append(list, (from - cumulative) as u16, (until - 1 - cumulative) as u16);
                from = until;
            }
            let left = blocks.len() - number - 1;
            if self.len() + left > max {
                self.renegable.truncate(before.0);
                self.non_renegable.truncate(before.1);
                self.renegable.push(*block);
            }
        }
    }

    /// How many blocks there are.
    pub(super) fn len(&self) -> usize {
        self.renegable.len() + self.non_renegable.len()
    }
}

/// Runs of one kind side by side are one block.
fn append(list: &mut Vec<GapAckBlock>, start: u16, end: u16) {
    match list.last_mut().filter(|last| last.end + 1 == start) {
        Some(last) => last.end = end,
        None => list.push(GapAckBlock { start, end }),
    }
}

#[cfg(test)]
#[path = "non_renegable_tests.rs"]
mod tests;
