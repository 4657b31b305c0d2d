//! Somebody who knows who talks to whom, and sees nothing of it.

use core::net::SocketAddr;
use std::collections::BTreeSet;

use whimbrel_machine::{Instant, Route, Unreachable};
use whimbrel_netsim::{Forged, Forgery, Intruder, Overheard};
use whimbrel_wire::CommonHeader;

use super::forge::{self, Facts, LAIR};
use super::{MOST, Zeal};
use crate::draw::Draw;

/// Routes remembered, at most.
const MOST_ROUTES: usize = 64;

/// Knows addresses, UDP ports and SCTP ports, and guesses the rest. He attacks all the time that hosts talk, and a little beyond.
pub(super) struct OffPath {
    draw: Draw,
    zeal: Zeal,
    /// Who sends to whom, with the SCTP ports.
    talks: BTreeSet<(Route, u16, u16)>,
    sent: u64,
}

impl OffPath {
    pub(super) fn new(draw: Draw, zeal: Zeal) -> Self {
        Self { draw, zeal, talks: BTreeSet::new(), sent: 0 }
    }

    /// All that he may look at: who sends to whom.
    fn learn(&mut self, route: Route, bytes: &[u8]) {
        if let [s0, s1, d0, d1, ..] = *bytes
            && self.talks.len() < MOST_ROUTES
        {
            self.talks.insert((route, u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1])));
        }
    }

    /// Somewhere else, perhaps another UDP port, than `address`.
    fn disguised(&mut self, address: SocketAddr) -> SocketAddr {
        match self.draw.between(0, 9) {
            0 if address.is_ipv4() => SocketAddr::new(LAIR, address.port()),
            1 if address.port() != 0 => SocketAddr::new(address.ip(), 4_000),
            _ => address,
        }
    }

    fn forgery(&mut self, now: Instant) -> Option<Forgery> {
        let nth = self.draw.between(0, self.talks.len() as u64 - 1) as usize;
        let &(route, source_port, destination_port) = self.talks.iter().nth(nth)?;
        let route = Route { local: self.disguised(route.local), ..route };
        let verification_tag = if self.draw.chance(0.3) { 0 } else { self.draw.0.next_u32() };
        let header = CommonHeader { source_port, destination_port, verification_tag };
        let facts = Facts {
            tsn: self.draw.0.next_u32(),
            peer_tsn: self.draw.0.next_u32(),
            serial: self.draw.0.next_u32(),
            addresses: self.talks.iter().map(|(route, ..)| route.local.ip()).collect(),
            tag: self.draw.0.next_u32(),
        };
        let chunks = forge::chunks(&mut self.draw, &facts);
        let bytes = forge::packet(header, &chunks);
        let what = if self.draw.chance(0.15) {
            let (mtu, reasons) =
                (self.draw.between(0, 1500) as u32, [Unreachable::Protocol, Unreachable::Destination]);
            let reason = if self.draw.chance(0.5) {
                Unreachable::PacketTooBig { mtu }
            } else {
                self.draw.one_of(&reasons)
            };
            Forged::Unreachable { route, reason, quoted: bytes }
        } else {
            Forged::Datagram { route, bytes }
        };
        Some(Forgery { at: now + self.draw.millis(0, 3_000), what })
    }
}

impl Intruder for OffPath {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, forge: &mut Vec<Forgery>) {
        self.learn(packet.route, packet.bytes);
        if now >= self.zeal.until || self.sent >= MOST || !self.draw.chance(self.zeal.chance) {
            return;
        }
        for _ in 0..self.draw.between(1, self.zeal.burst) {
            self.sent += 1;
            forge.extend(self.forgery(now));
        }
    }
}
