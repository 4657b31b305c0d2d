use smallvec::SmallVec;
use whimbrel_wire::Tsn;

use super::{LossDetection, SackNews};
use crate::interface::PathId;
use crate::send::outstanding::Outstanding;
use crate::send::report::Report;

/// Miss indications with a horizon of each path (Split Fast Retransmit): a chunk is missing only below the highest TSN newly acknowledged of
/// those that were last sent on the same path. What was sent on a quicker one says nothing about it.
///
/// A receiver that keeps SACKs back says how many packets each of them is for (DAC). Where all that a SACK newly acknowledges was sent on one path, a
/// chunk below all of that has been overtaken by as many packets, and each is an indication.
#[derive(Debug)]
pub(in crate::send) struct Split {
    threshold: u8,
}

/// What a SACK newly acknowledges on one path.
#[derive(Clone, Copy)]
struct Newly {
    path: PathId,
    lowest: Tsn,
    highest: Tsn,
}

impl Split {
    /// `threshold` is 3 in RFC 9260.
    pub(in crate::send) fn new(threshold: u8) -> Self {
        Self { threshold }
    }

    /// So many miss indications for the chunk at `index` if it is in flight and has not been fast-retransmitted.
    fn miss(&self, index: usize, indications: u32, outstanding: &mut Outstanding, report: &mut Report) {
        let Some((misses, _)) = outstanding.suspected(index) else { return };
        let more = u8::try_from(indications).unwrap_or(u8::MAX);
        misses.indications = misses.indications.saturating_add(more);
        if misses.indications >= self.threshold {
            outstanding.lose(index, report);
        }
    }
}

impl LossDetection for Split {
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report) {
        let newly: SmallVec<[Newly; 4]> = report
            .paths
            .iter()
            .filter_map(|change| {
                change.newly.map(|(lowest, highest)| Newly { path: change.path, lowest, highest })
            })
            .collect();
        for &Newly { path, lowest, highest } in &newly {
            // Of what is acknowledged for good nothing is missing below.
            let Some(end) = outstanding.index_of(highest) else { continue };
            let mut from = 0;
            while let Some(index) = outstanding.next_suspect(from..end) {
                from = index + 1;
                if outstanding.at(index).is_some_and(|chunk| chunk.path == path) {
                    let overtaken_by_all = newly.len() == 1 && outstanding.tsn(index).precedes(lowest);
                    let indications = if overtaken_by_all { sack.met.packets.max(1) } else { 1 };
                    self.miss(index, indications, outstanding, report);
                }
            }
        }
    }

    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, report: &mut Report) {
        self.miss(index, 1, outstanding, report);
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
