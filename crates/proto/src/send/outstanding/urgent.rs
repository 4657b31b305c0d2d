//! Chunks of urgent messages, which are in flight or have been until a moment ago.

use whimbrel_wire::Tsn;

use super::Outstanding;
use crate::send::chunk::Chunk;

impl Outstanding {
    /// The chunk `tsn` has been sent, and is urgent.
    pub(in crate::send) fn note_urgent(&mut self, tsn: Tsn) {
        self.several.urgent.push_back(tsn);
    }

    /// Leaves out what can have no copy any more, up to the first one that can: it is not in flight, or has been sent again.
    pub(in crate::send) fn forget_urgent(&mut self) {
        let first_time = |chunk: &Chunk| chunk.is_in_flight() && !chunk.retransmitted;
        let over =
            self.several.urgent.iter().take_while(|tsn| !self.get(**tsn).is_some_and(first_time)).count();
        self.several.urgent.drain(..over);
    }

    /// Whether there may be any.
    pub(in crate::send) fn has_urgent(&self) -> bool {
        !self.several.urgent.is_empty()
    }

    /// Where they are from this index on, lowest TSN first.
    pub(in crate::send) fn urgent_from(&self, index: usize) -> impl Iterator<Item = usize> {
        let first = self.tsn(index);
        let from = self.several.urgent.partition_point(|tsn| tsn.precedes(first));
        self.several.urgent.range(from..).filter_map(|tsn| self.index_of(*tsn))
    }
}
