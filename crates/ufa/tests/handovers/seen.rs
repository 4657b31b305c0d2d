use core::net::IpAddr;
use std::collections::BTreeMap;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Intruder, Overheard};
use whimbrel_testbed::Notes;
use whimbrel_ufa::sip::SIP_PORT;
use whimbrel_wire::{Chunk, Packet};

/// What SCTP has sent, as it reaches gateways and hosts.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// ASCONF chunks and their answers.
    pub(crate) asconf: u64,
    /// When the first DATA chunk for an address came to a gateway.
    pub(crate) data: BTreeMap<IpAddr, Instant>,
    /// When the first HEARTBEAT ACK left it.
    pub(crate) answers: BTreeMap<IpAddr, Instant>,
}

impl Seen {
    pub(crate) fn observe() -> (Notes<Self>, Box<dyn Intruder>) {
        Notes::by(|seen: &mut Self, now, packet: Overheard<'_>| {
            let Ok(parsed) = Packet::parse(packet.bytes) else { return };
            if packet.route.remote.port() == SIP_PORT {
                return;
            }
            for chunk in parsed.chunks().flatten() {
                match chunk {
                    Chunk::Asconf(_) | Chunk::AsconfAck(_) => seen.asconf += 1,
                    Chunk::Data(_) => _ = seen.data.entry(packet.route.remote.ip()).or_insert(now),
                    Chunk::HeartbeatAck(_) => _ = seen.answers.entry(packet.route.local.ip()).or_insert(now),
                    _ => {}
                }
            }
        })
    }
}
