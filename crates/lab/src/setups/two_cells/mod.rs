//! A mobile node between two radio cells that downloads a file: over SCTP, or over TCP and Mobile IP.

mod mobile_ip;
mod moving_sctp;
mod observer;
mod way;

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Machine};
use whimbrel_netsim::{App, DropReason, Intruder, LinkConfig, QueueLimit, Side, World};
use whimbrel_testbed::{Notes, Uplink};

use super::random;

pub use mobile_ip::{MobileIp, TunnelEnd};
pub use moving_sctp::{MovingSctp, mobile};
pub use observer::Noted;
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

    /// One direction of the radio for packets of up to 1500 bytes and `tunnel` bytes of an outer header, `unheard` bytes of which are not on the air.
    fn radio(&self, tunnel: u32, unheard: u32) -> LinkConfig {
        let overhead = (self.access_time.as_secs_f64() * self.radio_rate / 8.0).round() as u32;
        LinkConfig {
            rate_bps: Some(self.radio_rate as u64),
            queue: QueueLimit::packets(self.queue),
            frame_overhead: overhead.saturating_sub(unheard),
            mtu: 1500 + tunnel,
            loss: random(self.loss),
            ..LinkConfig::default()
        }
    }
}

/// Data packets are longer than this, all others shorter.
const DATA_BYTES: usize = 500;

/// When data reached the mobile node over which cell.
type Air = Notes<Vec<(Instant, usize)>>;

/// Somebody who notes that, of a node with these addresses in the cells.
fn listen(locals: [IpAddr; 2]) -> (Air, Box<dyn Intruder>) {
    Notes::by(move |noted: &mut Vec<(Instant, usize)>, now, packet| {
        let cell = locals.iter().position(|&local| local == packet.route.remote.ip());
        let Some(cell) = cell.filter(|_| packet.bytes.len() > DATA_BYTES) else { return };
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
    })
}

impl Journey {
    /// Of a world that has come to its end; the file took from `began` until `done`, if it arrived.
    fn over<M: Machine, A: App<M>>(
        world: &World<M, A>,
        radio: [Uplink; 2],
        air: &Air,
        (began, done): (Option<Instant>, Option<Instant>),
    ) -> Self {
        let lost = |radio: Uplink| {
            let stats = world.stats(radio.link, Side::AtoB);
            stats.dropped_for(DropReason::Cut) + stats.dropped_for(DropReason::Down)
        };
        Self {
            transfer_time: began.zip(done).map(|(began, done)| done - began),
            arrivals: core::mem::take(&mut *air.read()),
            lost: radio.map(lost).iter().sum(),
            fingerprint: world.trace_hash(),
        }
    }
}
