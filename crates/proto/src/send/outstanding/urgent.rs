//! Chunks of urgent messages, which are in flight or have been until a moment ago.

use whimbrel_wire::Tsn;

use super::Outstanding;
use crate::send::chunk::Chunk;

impl Outstanding {
    /// The chunk `tsn` has been sent, and is urgent.
    pub(in crate::send) fn note_urgent(&mut self, tsn: Tsn) {
        self.urgent.push_back(tsn);
    }

    /// Leaves out what is not in flight any more, up to the first one that is.
    pub(in crate::send) fn forget_urgent(&mut self) {
        let in_flight = |tsn: &Tsn| self.get(*tsn).is_some_and(Chunk::is_in_flight);
        let over = self.urgent.iter().take_while(|tsn| !in_flight(tsn)).count();
        self.urgent.drain(..over);
    }

    /// Whether there may be any.
    pub(in crate::send) fn has_urgent(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Where they are, lowest TSN first.
    pub(in crate::send) fn urgent(&self) -> impl Iterator<Item = usize> {
        self.urgent.iter().filter_map(|tsn| self.index_of(*tsn))
    }
}
