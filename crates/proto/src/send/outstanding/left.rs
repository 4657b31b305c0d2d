//! What is in flight as far as anybody knows, and has left the path all the same: it has arrived, or is lost, and no SACK has had room
//! to tell which.

use whimbrel_wire::Tsn;

use super::Outstanding;
use crate::interface::PathId;
use crate::send::chunk::Chunk;

impl Outstanding {
    /// The chunk at `index`.
    pub(in crate::send) fn at(&self, index: usize) -> Option<&Chunk> {
        self.chunks.get(index)
    }

    /// Where the chunk `tsn` is; `None` if it is acknowledged.
    pub(in crate::send) fn index_of(&self, tsn: Tsn) -> Option<usize> {
        (!tsn.precedes(self.base)).then(|| tsn.distance_from(self.base) as usize)
    }

    /// The TSN of the chunk at `index`.
    pub(in crate::send) fn tsn(&self, index: usize) -> Tsn {
        self.base.plus(index as u32)
    }

    /// The chunk at `index`, which is in flight, has arrived or is lost, and no SACK tells which.
    pub(in crate::send) fn leave(&mut self, index: usize) {
        let chunk = &mut self.chunks[index];
        debug_assert!(chunk.is_in_flight());
        self.counts.remove(chunk);
        chunk.has_left = true;
        self.counts.add(chunk);
    }

    /// Whether any such chunk is in flight on `path`.
    pub(in crate::send) fn has_left(&self, path: PathId) -> bool {
        self.counts.flights.iter().any(|flight| flight.path == path && flight.left > 0)
    }

    /// How many packets that were last sent on `path` have been acknowledged by gap ack blocks alone.
    pub(in crate::send) fn arrived_packets(&self, path: PathId) -> u32 {
        self.counts.flights.iter().find(|flight| flight.path == path).map_or(0, |flight| flight.arrived)
    }

    /// The flight size of `path` without what is known to be no longer on its way: what fills its window.
    pub(in crate::send) fn on_the_way(&self, path: PathId) -> usize {
        let flight = self.counts.flights.iter().find(|flight| flight.path == path);
        flight.map_or(0, |flight| flight.bytes - flight.left) + self.late_on(path)
    }
}
