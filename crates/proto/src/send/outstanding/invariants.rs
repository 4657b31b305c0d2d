//! What must hold after every call.

use super::*;

impl Outstanding {
    /// The paths that chunks may be in flight on.
    pub(in crate::send) fn paths(&self) -> impl Iterator<Item = PathId> {
        self.counts.flights.iter().map(|flight| flight.path)
    }

    /// The counts agree with the chunks, and chunks are in flight on paths that there are.
    pub(in crate::send) fn invariants(&self) {
        let flights = self.paths().map(Flight::none).collect();
        let mut counts = Counts { flights, ..Counts::default() };
        self.chunks.iter().for_each(|chunk| counts.add(chunk));
        assert_eq!(counts, self.counts);
        assert_eq!(self.held_payload, self.chunks.iter().map(|chunk| chunk.payload_len()).sum::<usize>());
        let GapMarks { all, renegable: may_be_dropped } = &self.gap_acknowledged;
        let end = self.done + self.chunks.len() as u64;
        for (number, chunk) in (self.done..end).zip(&self.chunks) {
            let here = number..number + 1;
            let is = |marks: &Marks| marks.next(here.clone()).is_some();
            let (gap_acknowledged, lost) =
                (chunk.state == ChunkState::GapAcknowledged, matches!(chunk.state, ChunkState::Lost(_)));
            let settled = chunk.state != ChunkState::InFlight || chunk.misses.fast_retransmitted;
            let renegable = gap_acknowledged && !chunk.is_released();
            assert!(gap_acknowledged || !chunk.is_released(), "user data is missing");
            let marks = [is(all), is(may_be_dropped), is(&self.lost), is(&self.settled)];
            assert_eq!(marks, [gap_acknowledged, renegable, lost, settled]);
        }
        for marks in [all, may_be_dropped, &self.lost, &self.settled] {
            assert_eq!(marks.next(end..u64::MAX), None, "what has not been sent is marked");
        }
    }
}
