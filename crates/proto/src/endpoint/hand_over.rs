//! What has come to one shard of an endpoint and is another one's.

use whimbrel_machine::{Instant, Route, Unreachable};

use super::Endpoint;
use crate::arrival::{Arrival, Origin};

/// A packet or an error that another shard of the endpoint has to look at.
///
/// It is handed over by its Verification Tag once at most, and by the peer's address once: nothing goes round in circles.
#[derive(Debug)]
pub struct HandOver {
    to: u32,
    route: Route,
    item: Item,
}

#[derive(Debug)]
enum Item {
    Packet { origin: Origin, bytes: Box<[u8]> },
    Unreachable { reason: Unreachable, quoted: Box<[u8]> },
}

impl HandOver {
    /// The number of the shard that it is for.
    pub const fn to(&self) -> u32 {
        self.to
    }

    /// Bytes that it takes while it waits.
    pub const fn size(&self) -> usize {
        let (Item::Packet { bytes, .. } | Item::Unreachable { quoted: bytes, .. }) = &self.item;
        bytes.len() + size_of::<Self>()
    }
}

impl Endpoint {
    /// What another shard has handed over to this one.
    pub fn handle_hand_over(&mut self, now: Instant, hand_over: &HandOver) {
        let route = hand_over.route;
        match &hand_over.item {
            Item::Packet { origin, bytes } => {
                if !self.handle_packet(now, route, bytes, *origin) {
                    self.totals.packets_dropped += 1;
                }
            }
            Item::Unreachable { reason, quoted } => {
                self.handle_icmp(now, route, *reason, quoted, Origin::ByPeer);
            }
        }
        self.relieve_memory(now);
        self.pass_the_turn(now);
    }

    /// What belongs to another shard. To be asked for after each input, as [`Self::poll_transmit`] is.
    pub fn poll_hand_over(&mut self) -> Option<HandOver> {
        self.handed_over.pop_front()
    }

    /// The shard that a packet from the network is for by its tag, if that is not this one.
    #[inline]
    pub(super) fn misrouted(&self, tag: u32, origin: Origin) -> Option<u32> {
        let shard = &self.table.shard;
        let elsewhere = || Some(shard.of_tag(tag)).filter(|&owner| owner != shard.number());
        (shard.count() > 1 && tag != 0 && origin == Origin::Network).then(elsewhere)?
    }

    pub(super) fn hand_over_by_tag(&mut self, to: u32, route: Route, bytes: &[u8]) -> bool {
        let item = Item::Packet { origin: Origin::ByTag, bytes: bytes.into() };
        self.handed_over.push_back(HandOver { to, route, item });
        true
    }

    /// To the shard whose association has the peer; false if that has been done already, and the packet is to be dropped.
    pub(super) fn hand_over_by_peer(&mut self, to: u32, arrival: &Arrival<'_>) -> bool {
        let may = arrival.origin != Origin::ByPeer;
        if may {
            let item = Item::Packet { origin: Origin::ByPeer, bytes: arrival.packet.bytes().into() };
            self.handed_over.push_back(HandOver { to, route: arrival.route, item });
        }
        may
    }

    pub(super) fn hand_over_error(&mut self, to: u32, route: Route, reason: Unreachable, quoted: &[u8]) {
        self.handed_over.push_back(HandOver {
            to,
            route,
            item: Item::Unreachable { reason, quoted: quoted.into() },
        });
    }
}

#[cfg(test)]
#[path = "hand_over_tests.rs"]
mod tests;
