//! A mobile node between two radio cells that downloads a file: over SCTP, or over TCP and Mobile IP.

mod mobile_ip;
mod moving_sctp;
mod observer;
mod way;

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_machine::Instant;
use whimbrel_netsim::{Forgery, Intruder, LinkConfig, Overheard, QueueLimit};

use super::random;

pub use mobile_ip::MobileIp;
pub use moving_sctp::{MovingSctp, mobile};
pub use observer::{Noted, Observer};
pub use way::{Crossing, Way};

/// The network between the correspondent node and the mobile node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wires {
    /// bit/s between the core and each access router.
    pub wired_rate: f64,
    /// One way.
    pub wired_delay: Duration,
    /// bit/s on the air.
    pub radio_rate: f64,
    /// What the medium access costs each packet on the air.
    pub access_time: Duration,
    /// Packets that wait in front of the radio.
    pub queue: u32,
    /// Probability that a packet is lost on the air within the range of a cell.
    pub loss: f64,
}

/// The download begins here, when every scheme knows where the node is.
pub const BEGIN: Instant = Instant::from_nanos(1_000_000_000);

/// What one run showed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Journey {
    /// From the first data sent to the last byte delivered; `None` if the file did not arrive in time.
    pub transfer_time: Option<Duration>,
    /// When data arrived over which cell, only the first and the last of each uninterrupted series.
    pub arrivals: Vec<(Instant, usize)>,
    /// Data packets lost on the air.
    pub lost: u64,
    /// Of everything that happened.
    pub fingerprint: u64,
}

impl Wires {
    fn wired(&self) -> LinkConfig {
        // Tunnels make packets longer than 1500 bytes; the wires carry them.
        LinkConfig {
            rate_bps: Some(self.wired_rate as u64),
            delay: self.wired_delay,
            mtu: 1600,
            ..LinkConfig::default()
        }
    }

    /// One direction of the radio, where packets are `longer` bytes longer than they would be on the air.
    fn radio(&self, longer: u32) -> LinkConfig {
        let overhead = (self.access_time.as_secs_f64() * self.radio_rate / 8.0).round() as u32;
        LinkConfig {
            rate_bps: Some(self.radio_rate as u64),
            queue: QueueLimit::packets(self.queue),
            frame_overhead: overhead.saturating_sub(longer),
            mtu: 1500 + longer,
            loss: random(self.loss),
            ..LinkConfig::default()
        }
    }
}

/// Data packets are longer than this, all others shorter.
const DATA_BYTES: usize = 500;

/// Notes over which cell data reaches the mobile node.
#[derive(Clone, Default)]
struct AirWatch(Arc<Mutex<Vec<(Instant, usize)>>>);

struct Ear {
    locals: [core::net::IpAddr; 2],
    noted: AirWatch,
}

impl AirWatch {
    fn at(locals: [core::net::IpAddr; 2]) -> (Self, Box<dyn Intruder>) {
        let noted = Self::default();
        (noted.clone(), Box::new(Ear { locals, noted }))
    }

    fn take(&self) -> Vec<(Instant, usize)> {
        core::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Intruder for Ear {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, _forge: &mut Vec<Forgery>) {
        let cell = self.locals.iter().position(|&local| local == packet.route.remote.ip());
        let Some(cell) = cell.filter(|_| packet.bytes.len() > DATA_BYTES) else { return };
        let mut noted = self.noted.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Of a series over one cell the first and the last are enough.
        if let [.., (_, before), (last, newest)] = &mut noted[..]
            && *before == cell
            && *newest == cell
            && now - *last < way::SERIES_GAP
        {
            *last = now;
        } else {
            noted.push((now, cell));
        }
    }
}
