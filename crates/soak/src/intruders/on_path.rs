//! Somebody on the path: sees every packet, can change it, hold it back, repeat it, and speak with the right tags.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use whimbrel_machine::{Instant, Route, Unreachable};
use whimbrel_netsim::{Forged, Forgery, Intruder, Overheard};
use whimbrel_wire::{ChecksumMode, Chunk, CommonHeader, Packet, PacketWriter};

use super::forge::{self, Facts, LAIR};
use super::{MOST, Zeal};
use crate::draw::Draw;

/// Packets remembered for later, at most.
const MOST_RECORDED: usize = 200;
/// Directions of conversations remembered, at most.
const MOST_DIRECTIONS: usize = 256;

/// What one host says to another's port: addresses do not matter, since hosts have several.
type Direction = (u16, u16, u32);

/// Hears everything, and does with some packets what he likes. He does not touch INIT and INIT ACK: no one can
/// authenticate those (RFC 4895 §3.2), and with false sequence numbers or streams data is lost, not changed.
pub(super) struct OnPath {
    draw: Draw,
    zeal: Zeal,
    heard: BTreeMap<Direction, (Route, Facts)>,
    recorded: VecDeque<(Route, Vec<u8>)>,
    sent: u64,
}

impl OnPath {
    pub(super) fn new(draw: Draw, zeal: Zeal) -> Self {
        Self { draw, zeal, heard: BTreeMap::new(), recorded: VecDeque::new(), sent: 0 }
    }

    /// Takes down ports, tag, sequence numbers and addresses; true if the packet sets up an association.
    fn learn(&mut self, route: Route, bytes: &[u8]) -> bool {
        let Ok(packet) = Packet::parse(bytes) else { return false };
        let header = packet.header();
        let direction = (header.source_port, header.destination_port, header.verification_tag);
        if !self.heard.contains_key(&direction) && self.heard.len() >= MOST_DIRECTIONS {
            self.heard.pop_first();
        }
        let (seen, facts) = self.heard.entry(direction).or_insert_with(|| (route, Facts::default()));
        *seen = route;
        for ip in [route.local.ip(), route.remote.ip()] {
            if !facts.addresses.contains(&ip) {
                facts.addresses.push(ip);
            }
        }
        facts.addresses.truncate(12);
        let mut begins = false;
        for chunk in packet.chunks().map_while(Result::ok) {
            match chunk {
                Chunk::Data(data) => facts.tsn = data.tsn.0.wrapping_add(1),
                Chunk::Sack(sack) => facts.peer_tsn = sack.cumulative_tsn_ack.0,
                Chunk::Asconf(asconf) => facts.serial = asconf.sequence_number,
                Chunk::Init(init) => (facts.tag, begins) = (init.initiate_tag, true),
                Chunk::InitAck(init) => (facts.tag, begins) = (init.initiate_tag, true),
                _ => {}
            }
        }
        begins
    }

    fn record(&mut self, route: Route, bytes: &[u8]) {
        if self.draw.chance(0.2) {
            if self.recorded.len() >= MOST_RECORDED {
                self.recorded.pop_front();
            }
            self.recorded.push_back((route, bytes.to_vec()));
        }
    }

    fn disguised(&mut self, address: SocketAddr) -> SocketAddr {
        match self.draw.between(0, 9) {
            0 if address.is_ipv4() => SocketAddr::new(LAIR, address.port()),
            1 if address.port() != 0 => SocketAddr::new(address.ip(), 4_000),
            _ => address,
        }
    }

    /// Something recorded, perhaps from another address.
    fn replay(&mut self, now: Instant) -> Option<Forgery> {
        let nth = self.draw.between(0, (self.recorded.len() as u64).saturating_sub(1)) as usize;
        let (route, bytes) = self.recorded.get(nth).cloned()?;
        let route = Route { local: self.disguised(route.local), ..route };
        Some(Forgery { at: now + self.draw.millis(0, 10_000), what: Forged::Datagram { route, bytes } })
    }

    /// Something in the name of somebody who talks, with the tag that he uses.
    fn speak(&mut self, now: Instant) -> Option<Forgery> {
        let nth = self.draw.between(0, self.heard.len() as u64 - 1) as usize;
        let (&(source_port, destination_port, tag), (route, facts)) = self.heard.iter().nth(nth)?;
        let (route, mut facts) = (*route, facts.clone());
        if self.draw.chance(0.5) {
            facts.tag = self.draw.0.next_u32();
        }
        let verification_tag = if self.draw.chance(0.1) { 0 } else { tag };
        let header = CommonHeader { source_port, destination_port, verification_tag };
        let bytes = forge::packet(header, &forge::chunks(&mut self.draw, &facts));
        let route = Route { local: self.disguised(route.local), ..route };
        Some(Forgery { at: now + self.draw.millis(0, 500), what: Forged::Datagram { route, bytes } })
    }

    /// An ICMP error that quotes what was really sent. Only such as hosts may believe without ending: a host that is told
    /// that its peer has no SCTP has to believe that, too (RFC 9260 §10).
    fn unreachable(&mut self, now: Instant, route: Route, bytes: &[u8]) -> Forgery {
        let reason = if self.draw.chance(0.5) {
            Unreachable::PacketTooBig { mtu: self.draw.between(0, 1_500) as u32 }
        } else {
            Unreachable::Destination
        };
        let what = Forged::Unreachable { route, reason, quoted: bytes[..bytes.len().min(500)].to_vec() };
        Forgery { at: now, what }
    }

    /// Flips bits, and makes the checksum right again, or not.
    fn bend(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.draw.between(1, 3) {
            let at = self.draw.between(0, bytes.len() as u64 - 1) as usize;
            bytes[at] ^= 1 << self.draw.between(0, 7);
        }
        if self.draw.chance(0.8) {
            let Ok(packet) = Packet::parse(bytes) else { return };
            let chunks = bytes[whimbrel_wire::COMMON_HEADER_LEN..].to_vec();
            *bytes = forge::packet(packet.header(), &chunks);
        }
    }

    /// The packet comes later; what arrives in its place is empty.
    fn hold_back(&mut self, now: Instant, packet: &mut Overheard<'_>) -> Forgery {
        let header = Packet::parse(packet.bytes).map(|packet| packet.header()).unwrap_or_default();
        let mut empty = Vec::new();
        PacketWriter::new(&mut empty, header, usize::MAX).finish(ChecksumMode::Crc32c);
        let bytes = core::mem::replace(packet.bytes, empty);
        let what = Forged::Datagram { route: packet.route, bytes };
        Forgery { at: now + self.draw.millis(0, 2_000), what }
    }
}

impl Intruder for OnPath {
    fn on_packet(&mut self, now: Instant, mut packet: Overheard<'_>, forge: &mut Vec<Forgery>) {
        if now >= self.zeal.until || packet.bytes.len() <= whimbrel_wire::COMMON_HEADER_LEN {
            return;
        }
        let begins = self.learn(packet.route, packet.bytes);
        self.record(packet.route, packet.bytes);
        if self.sent >= MOST || self.heard.is_empty() || !self.draw.chance(self.zeal.chance) {
            return;
        }
        for _ in 0..self.draw.between(1, self.zeal.burst) {
            self.sent += 1;
            match self.draw.between(0, 5) {
                0 | 1 => forge.extend(self.replay(now)),
                2 | 3 => forge.extend(self.speak(now)),
                4 => forge.push(self.unreachable(now, packet.route, packet.bytes)),
                _ => {}
            }
        }
        // A host has to get something through, or nothing would ever happen.
        match self.draw.between(0, 19) {
            0 if !begins => self.bend(packet.bytes),
            1 if !begins => forge.push(self.hold_back(now, &mut packet)),
            _ => {}
        }
    }
}
