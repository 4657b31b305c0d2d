//! A packet, and where and when it arrived.

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::Packet;

/// A packet that has arrived at `now`, from `route.remote` at `route.local`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub now: Instant,
    pub route: Route,
    pub packet: &'a Packet<'a>,
    pub origin: Origin,
}

/// How a packet came to the shard of the endpoint that looks at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// From the network.
    Network,
    /// Another shard has handed it over because of its Verification Tag.
    ByTag,
    /// Another shard has handed it over because an association here has the peer.
    ByPeer,
}
