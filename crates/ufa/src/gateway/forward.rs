//! Packets that only pass through.

use whimbrel_machine::{Ecn, Instant, Route, Sink};

use super::Gateway;
use super::buffer::Held;
use crate::agent::transmit;
use crate::interface::Event;

impl Gateway {
    /// Passes packets on, or keeps them for a terminal that is still to come. `route` is seen from where they go to.
    pub(super) fn forward(
        &mut self,
        now: Instant,
        route: Route,
        ecn: Ecn,
        bytes: &[u8],
        segment: usize,
        sink: &mut impl Sink<Event>,
    ) {
        self.allocations.hear(now, route.remote.ip());
        let onwards = route.reversed();
        for packet in bytes.chunks(segment.max(1)) {
            let allocation = self.allocations.get_mut(route.local.ip());
            match allocation.and_then(|allocation| allocation.waiting.as_mut()) {
                Some(waiting) => {
                    let before = waiting.dropped;
                    waiting.hold(onwards, ecn, packet);
                    self.overflowed += waiting.dropped - before;
                }
                None => sink.transmit(&transmit(onwards, ecn, packet.len()), packet),
            }
        }
    }

    /// Sends what has waited for terminals that are here now, in order, as far as it is time.
    pub(super) fn release(&mut self, now: Instant, sink: &mut impl Sink<Event>) {
        while let Some(Held { route, ecn, bytes }) = self.allocations.release(now, self.config.release) {
            sink.transmit(&transmit(route, ecn, bytes.len()), &bytes);
        }
    }
}
