//! What must hold after every call.

use super::*;

impl Outstanding {
    /// The paths that chunks may be in flight on.
    pub(in crate::send) fn paths(&self) -> impl Iterator<Item = PathId> {
        self.counts.flights.iter().map(|&(path, _)| path)
    }

    /// The counts agree with the chunks, and chunks are in flight on paths that there are.
    pub(in crate::send) fn invariants(&self) {
        let flights = self.paths().map(|path| (path, 0)).collect();
        let mut counts = Counts { flights, ..Counts::default() };
        self.chunks.iter().for_each(|chunk| counts.add(chunk));
        assert_eq!(counts, self.counts);
        assert_eq!(self.held_payload, self.chunks.iter().map(|chunk| chunk.payload_len()).sum::<usize>());
        let first = self.chunks.iter().position(|chunk| matches!(chunk.state, ChunkState::Lost(_)));
        assert!(first.is_none_or(|first| self.first_lost <= first));
    }
}
