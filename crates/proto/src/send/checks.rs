//! What must hold between the parts of a sender, checked where speed is not asked for.

#[cfg(any(test, fuzzing, debug_assertions))]
use whimbrel_wire::Tsn;

use super::sender::Sender;

/// Outstanding chunks that [`Sender::check`] walks in a call, on average.
#[cfg(any(test, fuzzing, debug_assertions))]
const CHECKED_PER_CALL: usize = 32;

impl Sender {
    #[cfg(not(any(test, fuzzing, debug_assertions)))]
    #[inline]
    pub(super) fn check(&mut self) {}

    /// [`Sender::invariants`], after every call as long as little is outstanding, and seldom enough otherwise that a call walks
    /// [`CHECKED_PER_CALL`] chunks on average: with thousands outstanding, tests took ten times as long.
    #[cfg(any(test, fuzzing, debug_assertions))]
    pub(super) fn check(&mut self) {
        self.unchecked_calls += 1;
        if self.unchecked_calls * CHECKED_PER_CALL >= self.outstanding.len() {
            self.unchecked_calls = 0;
            self.invariants();
        }
    }

    /// What must hold between the parts after every call. Panics if anything contradicts anything.
    #[cfg(any(test, fuzzing, debug_assertions))]
    pub(super) fn invariants(&self) {
        self.outstanding.invariants();
        for flow in &self.flows {
            let flight = self.outstanding.flight_size(flow.path);
            let earliest = self.outstanding.earliest_in_flight(flow.path);
            assert_eq!(flight > 0, earliest.is_some());
            assert!(
                earliest.is_none_or(|earliest| flow
                    .guarded
                    .is_some_and(|guarded| guarded.at_or_before(earliest))),
                "T3-rtx guards what is in flight on {:?}",
                flow.path
            );
            let sent = |(tsn, _): (Tsn, _)| tsn.precedes(self.outstanding.next_tsn());
            assert!(flow.timed.is_none_or(sent), "what is timed has been sent");
        }
        assert!(self.outstanding.paths().eq(self.flows.iter().map(|flow| flow.path)));
    }
}
