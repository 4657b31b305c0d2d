use whimbrel_machine::{Route, Sink, Transmit};

use crate::Event;

/// What a host has said in one step.
#[derive(Default)]
pub(super) struct Said {
    pub(super) sent: Vec<(Route, Vec<u8>)>,
    pub(super) events: Vec<Event>,
}

impl Sink<Event> for Said {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.sent.push((transmit.route, bytes.to_vec()));
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
