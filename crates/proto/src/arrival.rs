//! A packet, and where and when it arrived.

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::Packet;

/// A packet that has arrived at `now`, from `route.remote` at `route.local`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub now: Instant,
    pub route: Route,
    pub packet: &'a Packet<'a>,
}
