use core::net::IpAddr;

use whimbrel_machine::Instant;
use whimbrel_netsim::Intruder;
use whimbrel_testbed::{NUMBERED, Notes};
use whimbrel_wire::{Chunk, Packet};

/// What has arrived at one address.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// When the first packet of any kind arrived.
    pub first: Option<Instant>,
    /// When a message of this number or a higher one first arrived; per number only where it is a new record.
    records: Vec<(Instant, u32)>,
}

impl Arrivals {
    /// Notes about what reaches `address`, and who makes them.
    pub fn at(address: IpAddr) -> (Notes<Self>, Box<dyn Intruder>) {
        Notes::by(move |arrivals: &mut Self, now, packet| {
            if packet.route.remote.ip() == address {
                arrivals.add(now, packet.bytes);
            }
        })
    }

    pub(super) fn add(&mut self, now: Instant, bytes: &[u8]) {
        self.first.get_or_insert(now);
        let Ok(packet) = Packet::parse(bytes) else { return };
        for chunk in packet.chunks() {
            let Ok(Chunk::Data(data)) = chunk else { continue };
            let number = data.ppid.0 & !NUMBERED;
            if self.records.last().is_none_or(|&(_, record)| number > record) {
                self.records.push((now, number));
            }
        }
    }

    /// When message `number` or a later one first arrived.
    pub fn first_from(&self, number: u32) -> Option<Instant> {
        let after = self.records.partition_point(|&(_, record)| record < number);
        self.records.get(after).map(|&(at, _)| at)
    }
}
