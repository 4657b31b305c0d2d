use whimbrel_machine::{Instant, Record, Sink, Transmit};
use whimbrel_proto::Event;

use crate::anticipation::Anticipation;
use crate::metrics::Metrics;
use crate::socket::LocalAddress;
use crate::witness::Witness;

/// Where the machine's outputs go during a step: packets straight to the sockets, events to a list.
pub(crate) struct Output<'a> {
    pub(crate) now: Instant,
    pub(crate) locals: &'a mut [LocalAddress],
    pub(crate) events: &'a mut Vec<Event>,
    pub(crate) anticipation: &'a mut Anticipation,
    pub(crate) metrics: &'a mut Metrics,
    pub(crate) witness: &'a mut Witness,
}

impl Sink<Event> for Output<'_> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.anticipation.sent(bytes);
        // A handful of addresses at most. A machine that sends from an address that is not ours sends nowhere.
        if let Some(local) = self.locals.iter_mut().find(|local| local.local() == transmit.route.local) {
            self.metrics.sent(bytes.len(), transmit.segment);
            local.send(transmit, bytes);
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn trace(&mut self, record: Record) {
        self.witness.record(self.now, record);
    }

    fn traces(&self) -> bool {
        self.witness.wants_records()
    }
}
