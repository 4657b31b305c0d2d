use whimbrel_machine::{Route, Sink, Transmit};

use crate::Event;

/// What a host has said in one step.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) sent: Vec<(Route, Vec<u8>)>,
    pub(crate) events: Vec<Event>,
}

impl Sink<Event> for Said {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.sent.push((transmit.route, bytes.to_vec()));
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
