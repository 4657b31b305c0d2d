use core::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_machine::Instant;
use whimbrel_netsim::{Forgery, Intruder, Overheard};
use whimbrel_wire::{Chunk, Packet};

use super::NUMBERED;

/// Reads what an observer in the network has noted.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    first: Option<Instant>,
    /// When a message of this number or a higher one first arrived; per number only where it is a new record.
    records: Vec<(Instant, u32)>,
}

/// Sits in the network and watches one address, changing nothing.
#[derive(Debug)]
pub struct ArrivalsWatch {
    address: IpAddr,
    noted: Arc<Mutex<Noted>>,
}

impl Arrivals {
    /// An observer of what reaches `address`, and where its notes can be read.
    pub fn at(address: IpAddr) -> (Self, Box<ArrivalsWatch>) {
        let arrivals = Self::default();
        let watch = ArrivalsWatch { address, noted: Arc::clone(&arrivals.0) };
        (arrivals, Box::new(watch))
    }

    /// When the first packet of any kind arrived.
    pub fn first(&self) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first
    }

    /// When message `number` or a later one first arrived.
    pub fn first_from(&self, number: u32) -> Option<Instant> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let after = noted.records.partition_point(|&(_, record)| record < number);
        noted.records.get(after).map(|&(at, _)| at)
    }
}

impl Intruder for ArrivalsWatch {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, _forge: &mut Vec<Forgery>) {
        if packet.route.remote.ip() != self.address {
            return;
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.first.get_or_insert(now);
        let Ok(packet) = Packet::parse(packet.bytes) else { return };
        for chunk in packet.chunks() {
            let Ok(Chunk::Data(data)) = chunk else { continue };
            let number = data.ppid.0 & !NUMBERED;
            if noted.records.last().is_none_or(|&(_, record)| number > record) {
                noted.records.push((now, number));
            }
        }
    }
}
