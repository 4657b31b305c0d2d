use whimbrel_machine::{Ecn, Fragmentation, Instant, Route, Unreachable};

use crate::DropReason;
use crate::event_queue::Due;
use crate::fabric::Fabric;
use crate::packets::Content;

/// Somebody in the network who is no host: sees what is about to reach hosts, may change it, and sends in any name.
///
/// What it does must follow from what it is shown and from a random stream of its own, so that runs can be repeated.
pub trait Intruder: Send {
    /// A datagram of a host is about to reach another one. `forge` takes what shall arrive besides.
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, forge: &mut Vec<Forgery>);
}

/// A datagram on its last step.
#[derive(Debug)]
pub struct Overheard<'a> {
    /// As its sender sees it.
    pub route: Route,
    /// Its payload, which may be changed.
    pub bytes: &'a mut Vec<u8>,
    /// It reaches a host that runs a router, and is for another one: it will be shown again where it is going to.
    pub transit: bool,
}

/// Something that arrives without having been sent by whom it names.
#[derive(Clone, Debug)]
pub struct Forgery {
    /// When it arrives, or now if that has passed.
    pub at: Instant,
    /// What it is.
    pub what: Forged,
}

/// What arrives.
#[derive(Clone, Debug)]
pub enum Forged {
    /// A datagram for whoever has the address `route.remote`, with the source address `route.local`.
    Datagram {
        /// As its pretended sender would see it.
        route: Route,
        /// Its payload.
        bytes: Vec<u8>,
    },
    /// An ICMP error for whoever has the address `route.local`.
    Unreachable {
        /// The route of the datagram it claims to quote, as the victim would have sent it.
        route: Route,
        /// What it says.
        reason: Unreachable,
        /// What it quotes.
        quoted: Vec<u8>,
    },
}

impl Fabric {
    /// Has a forgery arrive at its time. It crosses no link.
    pub(crate) fn forge(&mut self, now: Instant, forgery: &Forgery) {
        let (route, bytes) = match &forgery.what {
            Forged::Datagram { route, bytes } | Forged::Unreachable { route, quoted: bytes, .. } => {
                (*route, bytes)
            }
        };
        let Some(slot) = self.packets.take(bytes) else {
            self.strays[DropReason::Limit as usize] += 1;
            return;
        };
        let generation = self.packets.reschedule(slot);
        let packet = &mut self.packets[slot];
        packet.content = match forgery.what {
            Forged::Datagram { .. } => Content::Forged,
            Forged::Unreachable { reason, .. } => Content::Unreachable(reason),
        };
        packet.route = route;
        packet.ecn = Ecn::NotCapable;
        packet.fragmentation = Fragmentation::Allowed;
        packet.ip_bytes = packet.bytes.len() as u32;
        packet.number = 0;
        // An ICMP error goes to the pretended sender of what it quotes.
        let victim = match forgery.what {
            Forged::Datagram { .. } => route.remote.ip(),
            Forged::Unreachable { .. } => route.local.ip(),
        };
        let host =
            self.topology.owner(victim).map(|interface| self.topology.interfaces[interface as usize].host);
        match host {
            Some(host) => {
                self.packets[slot].source = host;
                self.events.push(forgery.at.max(now), Due::packet(slot, generation));
            }
            None => self.discard(now, slot, DropReason::NoRoute),
        }
    }
}
