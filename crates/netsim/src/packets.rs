use whimbrel_machine::{Ecn, Fragmentation, Instant, IpProtocol, Route, Unreachable};

use crate::Flight;

/// What a slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Nothing.
    Vacant,
    /// A datagram on its way.
    Datagram,
    /// A datagram that no host has sent, on its way to the host in `source`.
    Forged,
    /// News for the sender of a datagram: the beginning of it comes back.
    Unreachable(Unreachable),
}

/// A packet in flight.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) content: Content,
    /// As the sender sees it.
    pub(crate) route: Route,
    pub(crate) ecn: Ecn,
    pub(crate) fragmentation: Fragmentation,
    pub(crate) protocol: IpProtocol,
    /// The host that sent it; of what was forged, the one that gets it.
    pub(crate) source: u32,
    /// The interface it is for.
    pub(crate) destination: u32,
    /// When that was found out, see [`crate::topology::Topology::epoch`].
    pub(crate) epoch: u32,
    /// The link direction it is on.
    pub(crate) direction: u32,
    /// Its number in traces, the same on every link it crosses.
    pub(crate) number: u64,
    /// Its place in the order of all offers to links.
    pub(crate) order: u64,
    /// When its sender sent it.
    pub(crate) sent: Instant,
    pub(crate) flight: Flight,
    /// The length of the IP packet.
    pub(crate) ip_bytes: u32,
    /// The datagram's payload.
    pub(crate) bytes: Vec<u8>,
    generation: u32,
}

/// All packets in flight. Slots and their buffers are used again, so a steady flow allocates nothing.
pub(crate) struct Packets {
    slots: Vec<Packet>,
    vacant: Vec<u32>,
    limit: usize,
}

impl Packets {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), limit }
    }

    pub(crate) const fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// A slot with a copy of `bytes`, the rest of it as in the last use; `None` if too many are in use.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<u32> {
        let slot = match self.vacant.pop() {
            Some(slot) => slot,
            None if self.slots.len() >= self.limit => return None,
            None => {
                self.slots.push(Packet::vacant());
                (self.slots.len() - 1) as u32
            }
        };
        let buffer = &mut self.slots[slot as usize].bytes;
        buffer.clear();
        buffer.extend_from_slice(bytes);
        Some(slot)
    }

    /// A second slot with the same content.
    pub(crate) fn copy(&mut self, slot: u32) -> Option<u32> {
        let bytes = core::mem::take(&mut self.slots[slot as usize].bytes);
        let copy = self.take(&bytes);
        self.slots[slot as usize].bytes = bytes;
        let [from, to] = self.slots.get_disjoint_mut([slot as usize, copy? as usize]).ok()?;
        to.content = from.content;
        to.route = from.route;
        to.ecn = from.ecn;
        to.fragmentation = from.fragmentation;
        to.protocol = from.protocol;
        to.source = from.source;
        to.destination = from.destination;
        to.epoch = from.epoch;
        to.direction = from.direction;
        to.number = from.number;
        to.order = from.order;
        to.sent = from.sent;
        to.flight = from.flight;
        to.ip_bytes = from.ip_bytes;
        copy
    }

    /// Gives the slot back. Events that name it become void.
    pub(crate) fn release(&mut self, slot: u32) {
        let packet = &mut self.slots[slot as usize];
        packet.content = Content::Vacant;
        packet.generation = packet.generation.wrapping_add(1);
        self.vacant.push(slot);
    }

    /// Makes the events that name the slot void, and returns the generation for a new one.
    pub(crate) fn reschedule(&mut self, slot: u32) -> u32 {
        let packet = &mut self.slots[slot as usize];
        packet.generation = packet.generation.wrapping_add(1);
        packet.generation
    }

    pub(crate) fn is_current(&self, slot: u32, generation: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|packet| packet.generation == generation)
    }

    /// To be asked of later, whether the slot still has this packet.
    pub(crate) fn generation(&self, slot: u32) -> u32 {
        self.slots[slot as usize].generation
    }

    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// The slots of packets on link direction `direction`, in the order they were offered to it.
    pub(crate) fn on_direction(&self, direction: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = (0..self.slots.len() as u32)
            .filter(|&slot| {
                let packet = &self.slots[slot as usize];
                packet.content == Content::Datagram && packet.direction == direction
            })
            .collect();
        slots.sort_unstable_by_key(|&slot| self.slots[slot as usize].order);
        slots
    }
}

impl core::ops::Index<u32> for Packets {
    type Output = Packet;
    fn index(&self, slot: u32) -> &Packet {
        &self.slots[slot as usize]
    }
}

impl core::ops::IndexMut<u32> for Packets {
    fn index_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.slots[slot as usize]
    }
}

impl Packet {
    fn vacant() -> Self {
        let nowhere = core::net::SocketAddr::from(([0, 0, 0, 0], 0));
        Self {
            content: Content::Vacant,
            route: Route { local: nowhere, remote: nowhere },
            ecn: Ecn::NotCapable,
            fragmentation: Fragmentation::Forbidden,
            protocol: IpProtocol::Sctp,
            source: 0,
            destination: 0,
            epoch: 0,
            direction: 0,
            number: 0,
            order: 0,
            sent: Instant::ZERO,
            flight: Flight { departs: Instant::ZERO, arrives: Instant::ZERO },
            ip_bytes: 0,
            bytes: Vec::new(),
            generation: 0,
        }
    }
}
