use core::net::IpAddr;
use std::collections::BTreeMap;

use whimbrel_machine::{Instant, Route, Seed, Transmit, Unreachable};

use crate::capture::Captures;
use crate::event_queue::{Due, EventQueue};
use crate::hash::TraceHash;
use crate::nat::Nat;
use crate::packets::{Content, Packets};
use crate::topology::Topology;
use crate::trace::{Line, Trace};
use crate::{
    Arrival, Attachment, Change, DropReason, Effect, Fate, Flight, Framing, InterfaceId, LinkConfig,
    LinkDirection, LinkId, MAX_PAYLOAD, Offered, Oversize, Side,
};

/// Packets in flight in a world, unless told otherwise.
const PACKETS_IN_FLIGHT_MAX: usize = 1 << 20;

/// An ICMP error with its own headers is at most 576 bytes long (RFC 1812 §4.3.2.3).
const QUOTED_BYTES_MAX: usize = 576 - 20 - 8 - 20 - 8;

/// Of a packet that waits to be served: nobody knows yet when.
const WAITING: Flight = Flight { departs: Instant::FAR_FUTURE, arrives: Instant::FAR_FUTURE };

mod air;
mod relay;

use self::air::{Air, Station};

pub(crate) const A_TO_B: u32 = 0;
const B_TO_A: u32 = 1;

/// The link that a direction belongs to, and which of the two it is.
pub(crate) const fn link_and_side(direction: u32) -> (u32, u32) {
    (direction / 2, direction % 2)
}

/// Everything between the hosts: links, routes, packets on their way, and who watches.
pub(crate) struct Fabric {
    pub(crate) topology: Topology,
    pub(crate) directions: Vec<LinkDirection>,
    /// Per direction, the event that is to serve those that wait there.
    services: Vec<Instant>,
    /// Media that several directions share.
    media: Vec<Air>,
    /// Per direction, its medium and which station of that it is.
    stations: Vec<Option<Station>>,
    pub(crate) packets: Packets,
    pub(crate) events: EventQueue,
    pub(crate) hash: TraceHash,
    pub(crate) trace: Option<Trace>,
    pub(crate) captures: Captures,
    /// Boxes that translate, by the interface they stand at.
    pub(crate) nats: BTreeMap<u32, Nat>,
    /// Packets dropped that were on no link, by reason.
    pub(crate) strays: [u64; DropReason::COUNT],
    pub(crate) host_names: Vec<String>,
    offers: u64,
    seed: Seed,
}

impl Fabric {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            topology: Topology::default(),
            directions: Vec::new(),
            services: Vec::new(),
            media: Vec::new(),
            stations: Vec::new(),
            packets: Packets::new(PACKETS_IN_FLIGHT_MAX),
            events: EventQueue::default(),
            hash: TraceHash::Kept(0),
            trace: None,
            captures: Captures::default(),
            nats: BTreeMap::new(),
            strays: [0; DropReason::COUNT],
            host_names: Vec::new(),
            offers: 0,
            seed,
        }
    }

    pub(crate) fn add_link(&mut self, ends: [Attachment; 2], configs: [LinkConfig; 2]) -> LinkId {
        let link = self.topology.add_link(ends[0], ends[1]);
        for config in configs {
            let id = self.directions.len() as u64;
            self.directions.push(LinkDirection::new(config, &self.seed, id));
            self.services.push(Instant::FAR_FUTURE);
            self.stations.push(None);
        }
        link
    }

    /// A host's machine sends a train of datagrams.
    pub(crate) fn send(&mut self, now: Instant, host: u32, transmit: &Transmit, bytes: &[u8]) {
        let segment = if transmit.segment == 0 { bytes.len().max(1) } else { transmit.segment };
        let leaving = self.way_out(now, host, &transmit.route);
        for datagram in bytes.chunks(segment) {
            let leaving = if datagram.len() > MAX_PAYLOAD { Err(DropReason::Limit) } else { leaving };
            match leaving
                .and_then(|way| self.packets.take(datagram).ok_or(DropReason::Limit).map(|slot| (way, slot)))
            {
                Ok(((route, framing, destination, direction), slot)) => {
                    let packet = &mut self.packets[slot];
                    packet.content = Content::Datagram;
                    packet.route = route;
                    packet.ecn = transmit.ecn;
                    packet.fragmentation = transmit.fragmentation;
                    packet.protocol = transmit.protocol;
                    packet.source = host;
                    packet.destination = destination;
                    packet.epoch = self.topology.epoch();
                    packet.sent = now;
                    packet.ip_bytes = (framing.header_bytes() + datagram.len()) as u32;
                    packet.number = self.offers + 1;
                    self.enter(now, direction, slot);
                }
                Err(reason) => {
                    self.strays[reason as usize] += 1;
                    self.trace_drop(now, 0, None, datagram.len() as u32, reason);
                }
            }
        }
    }

    /// The route beyond translation, the framing, the destination interface and the first link direction of what `host` sends on
    /// `route`. The packet leaves by the interface that owns its source address, never by some default.
    fn way_out(
        &mut self,
        now: Instant,
        host: u32,
        route: &Route,
    ) -> Result<(Route, Framing, u32, u32), DropReason> {
        Framing::of(route).ok_or(DropReason::NoSource)?;
        if let Some(router) = self.topology.relay_of(host) {
            return self.way_on(host, router, route);
        }
        let source = self.topology.owner(route.local.ip()).ok_or(DropReason::NoSource)?;
        if self.topology.interfaces[source as usize].host != host {
            return Err(DropReason::NoSource);
        }
        let remote = self.nats.get(&source).map_or(route.remote, |nat| nat.outside(route.remote));
        let destination = self.topology.owner(remote.ip()).ok_or(DropReason::NoRoute)?;
        let from = Attachment::Interface(InterfaceId(source));
        let direction = self.topology.next_hop(from, destination).ok_or(DropReason::NoRoute)?;
        let route = match self.nats.get_mut(&source) {
            Some(nat) => nat.translate_out(now, *route).ok_or(DropReason::Nat)?,
            None => *route,
        };
        let framing = Framing::of(&route).ok_or(DropReason::NoSource)?;
        Ok((route, framing, destination, direction))
    }

    /// Takes back the translation of what has come to an interface; false if nobody behind its box has asked for it.
    fn let_in(&mut self, now: Instant, interface: u32, slot: u32) -> bool {
        let Some(nat) = self.nats.get_mut(&interface) else { return true };
        let route = &mut self.packets[slot].route;
        // Its host may have another address by now.
        let here = |inside: &Route| self.topology.owner(inside.remote.ip()) == Some(interface);
        let inside = nat.translate_in(now, *route).filter(here);
        *route = inside.unwrap_or(*route);
        inside.is_some()
    }

    /// An ICMP error quotes a packet as it was beyond the box: its sender is told of the one that it sent.
    fn restore_quoted(&mut self, slot: u32) {
        let route = &mut self.packets[slot].route;
        let nat = self.topology.owner(route.local.ip()).and_then(|interface| self.nats.get(&interface));
        let inside = nat.and_then(|nat| nat.inside(route.local, route.remote));
        *route = inside.unwrap_or(*route);
    }

    /// Puts a packet on a link.
    fn enter(&mut self, now: Instant, direction: u32, slot: u32) {
        self.offers += 1;
        if self.services[direction as usize] <= now {
            // Who waits goes first, whatever the order of events at this instant.
            self.serve(now, direction);
        }
        let packet = &mut self.packets[slot];
        packet.direction = direction;
        packet.order = self.offers;
        if let Some(station) = self.stations[direction as usize] {
            return self.enter_medium(now, station, slot);
        }
        let offered = Offered {
            ip_bytes: packet.ip_bytes,
            fragmentation: packet.fragmentation,
            flow: &packet.route,
            ticket: slot,
        };
        let fate = self.directions[direction as usize].offer_packet(now, offered);
        self.watch_entry(now, direction, slot, fate);
        if fate == Fate::Waits {
            self.await_service(direction);
        }
        self.begin(now, slot, &fate);
    }

    /// Does what a link has said of a packet that has come to it.
    fn begin(&mut self, now: Instant, slot: u32, fate: &Fate) {
        let direction = self.packets[slot].direction;
        match *fate {
            Fate::Waits => self.packets[slot].flight = WAITING,
            Fate::Dropped(DropReason::Mtu)
                if self.directions[direction as usize].config().oversize == Oversize::Reported =>
            {
                self.return_to_sender(now, slot);
            }
            ref fate => self.follow(slot, fate),
        }
    }

    /// The bottleneck of a direction may be free: those that wait there get their turn.
    pub(crate) fn serve(&mut self, now: Instant, direction: u32) {
        if self.services[direction as usize] > now {
            return;
        }
        while let Some((slot, fate)) = self.directions[direction as usize].serve(now) {
            if let Fate::Dropped(reason) = fate {
                let packet = &self.packets[slot];
                let (number, bytes) = (packet.number, packet.ip_bytes);
                self.trace_drop(now, number, Some(direction), bytes, reason);
            }
            self.follow(slot, &fate);
        }
        self.services[direction as usize] = Instant::FAR_FUTURE;
        self.await_service(direction);
    }

    /// Sees to it that the next service of a direction is not missed.
    fn await_service(&mut self, direction: u32) {
        let due = self.directions[direction as usize].next_service().unwrap_or(Instant::FAR_FUTURE);
        let known = core::mem::replace(&mut self.services[direction as usize], due);
        if known != due && due < Instant::FAR_FUTURE {
            self.events.push(due, Due::Service { direction });
        }
    }

    /// Launches what passes, and frees what is lost.
    #[inline]
    fn follow(&mut self, slot: u32, fate: &Fate) {
        let direction = self.packets[slot].direction;
        match *fate {
            Fate::Passed { first, duplicate } => {
                let copy = duplicate.map(|arrival| (self.packets.copy(slot), arrival));
                self.launch(slot, first);
                match copy {
                    Some((Some(copy), arrival)) => self.launch(copy, arrival),
                    Some((None, _)) => self.directions[direction as usize].dropped(DropReason::Limit),
                    None => {}
                }
            }
            Fate::Dropped(_) => self.packets.release(slot),
            Fate::Waits => {}
        }
    }

    fn launch(&mut self, slot: u32, arrival: Arrival) {
        let generation = self.packets.reschedule(slot);
        let packet = &mut self.packets[slot];
        packet.flight = arrival.flight;
        if arrival.corrupted {
            self.directions[packet.direction as usize].flip_bits(&mut packet.bytes);
        }
        self.events.push_in_line(packet.direction, arrival.flight.arrives, slot, generation);
    }

    /// Makes the packet an ICMP error that takes as long back as the packet took here.
    fn return_to_sender(&mut self, now: Instant, slot: u32) {
        let generation = self.packets.reschedule(slot);
        let packet = &mut self.packets[slot];
        let mtu = self.directions[packet.direction as usize].config().mtu;
        packet.content = Content::Unreachable(Unreachable::PacketTooBig { mtu });
        packet.bytes.truncate(QUOTED_BYTES_MAX);
        self.events.push(now + (now - packet.sent), Due::packet(slot, generation));
    }

    /// A packet's event has come up. Returns the host that gets what is in the slot; whoever delivers it releases
    /// the slot.
    pub(crate) fn arrive(&mut self, now: Instant, slot: u32, generation: u32) -> Option<u32> {
        if !self.packets.is_current(slot, generation) {
            return None;
        }
        let packet = &self.packets[slot];
        if packet.content != Content::Datagram {
            let source = packet.source;
            if matches!(packet.content, Content::Unreachable(_)) {
                self.restore_quoted(slot);
            }
            return Some(source);
        }
        let (direction, destination, remote) =
            (packet.direction, packet.destination, packet.route.remote.ip());
        let found = packet.epoch == self.topology.epoch();
        self.directions[direction as usize].delivered(packet.ip_bytes);
        let (link, side) = link_and_side(direction);
        if side == B_TO_A && self.captures.wants(link) {
            self.capture(now, direction, slot, None);
        }
        let at = self.topology.far_end(direction);
        if let Some(host) = self.topology.relay_at(at) {
            return Some(host);
        }
        if at == Attachment::Interface(InterfaceId(destination)) && (found || self.owns(destination, remote))
        {
            if !self.let_in(now, destination, slot) {
                self.discard(now, slot, DropReason::Nat);
                return None;
            }
            return Some(self.topology.interfaces[destination as usize].host);
        }
        // What reaches a host's interface without being for it goes no further: hosts do not forward.
        match at {
            Attachment::Router(_) => match self.topology.next_hop(at, destination) {
                Some(next) => self.enter(now, next, slot),
                None => self.discard(now, slot, DropReason::NoRoute),
            },
            Attachment::Interface(_) => self.discard(now, slot, DropReason::NoRoute),
        }
        None
    }

    /// Drops a packet that is on no link.
    pub(crate) fn discard(&mut self, now: Instant, slot: u32, reason: DropReason) {
        self.strays[reason as usize] += 1;
        let (number, bytes) = (self.packets[slot].number, self.packets[slot].ip_bytes);
        self.trace_drop(now, number, None, bytes, reason);
        self.packets.release(slot);
    }

    pub(crate) fn change(&mut self, now: Instant, link: LinkId, side: Side, change: Change) {
        if link.index() >= self.topology.link_count() {
            return;
        }
        for direction in side.directions(link) {
            self.hash.numbers(&[now.as_nanos(), u64::from(direction)]);
            self.hash.bytes(change.name().as_bytes());
            if let Some(trace) = &mut self.trace {
                let (link, side) = link_and_side(direction);
                let detail = format!("{change:?}");
                trace.line(now, Line::Link { link, side, change: change.name(), detail });
            }
            self.change_direction(now, direction, change);
        }
    }

    fn change_direction(&mut self, now: Instant, direction: u32, change: Change) {
        let slots = match change {
            Change::Down(_) | Change::Rate(_) | Change::Config(_) => self.packets.on_direction(direction),
            _ => Vec::new(),
        };
        let (waiting, slots): (Vec<u32>, Vec<u32>) =
            slots.into_iter().partition(|&slot| self.packets[slot].flight == WAITING);
        let mut flights: Vec<Flight> = slots.iter().map(|&slot| self.packets[slot].flight).collect();
        let effect = self.directions[direction as usize].change(now, change, &mut flights);
        match effect {
            Effect::None => {}
            Effect::Retimed => {
                for (slot, flight) in slots.into_iter().zip(flights) {
                    if self.packets[slot].flight != flight {
                        self.launch(slot, Arrival { flight, corrupted: false });
                    }
                }
            }
            Effect::Lost => {
                for slot in slots.into_iter().chain(waiting) {
                    self.directions[direction as usize].dropped(DropReason::Cut);
                    let (number, bytes) = (self.packets[slot].number, self.packets[slot].ip_bytes);
                    self.trace_drop(now, number, Some(direction), bytes, DropReason::Cut);
                    self.packets.release(slot);
                }
            }
        }
        self.await_service(direction);
    }

    fn owns(&self, interface: u32, address: IpAddr) -> bool {
        self.topology.owner(address) == Some(interface)
    }
}
