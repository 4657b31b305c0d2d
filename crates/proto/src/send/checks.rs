//! What must hold between the parts of a sender. Nothing of this is in releases.

use whimbrel_wire::Tsn;

use super::sender::Sender;

impl Sender {
    /// What must hold between the parts after every call. Panics if anything contradicts anything.
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
