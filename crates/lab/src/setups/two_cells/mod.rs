//! A mobile node between two radio cells that downloads a file: over SCTP, or over TCP and Mobile IP.

mod mobile_ip;
mod moving_sctp;
mod observer;
mod way;

use core::time::Duration;

use whimbrel_machine::{Instant, Machine};
use whimbrel_netsim::{
    Action, App, Change, DropReason, HostId, InFlight, Intruder, LinkConfig, QueueLimit, Side, World,
};
use whimbrel_testbed::{Notes, Tally, Uplink};

use super::random;
use crate::experiment::Watch;

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

/// Of the wires, bytes: tunnels make packets longer than 1500 bytes.
const MTU: u32 = 1600;

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
        LinkConfig {
            rate_bps: Some(self.wired_rate as u64),
            delay: self.wired_delay,
            mtu: MTU,
            ..LinkConfig::default()
        }
    }

    /// One direction of the radio for packets of up to 1500 bytes and `tunnel` bytes of an outer header, `unheard` bytes of which the simulated packet has and one on the air has not.
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

/// Somebody who notes that.
fn listen(radio: [Uplink; 2]) -> (Air, Box<dyn Intruder>) {
    Notes::by(move |noted: &mut Vec<(Instant, usize)>, now, packet| {
        let cell = radio.iter().position(|radio| radio.address.ip() == packet.route.remote.ip());
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

/// A download by a node that goes its way between the cells.
pub struct Download<M: Machine, A: App<M>> {
    world: World<M, A>,
    /// The correspondent node, which sends, and the mobile node.
    hosts: [HostId; 2],
    radio: [Uplink; 2],
    air: Air,
    until: Instant,
    /// Bytes.
    file: u64,
    /// What a host's user keeps.
    tally: fn(&A) -> Option<&Tally>,
}

impl<M: Machine, A: App<M>> Download<M, A> {
    /// In a world in which nothing has happened yet; at first there is the first cell alone.
    fn begin(
        mut world: World<M, A>,
        hosts: [HostId; 2],
        radio: [Uplink; 2],
        way: &Way,
        file: u64,
        tally: fn(&A) -> Option<&Tally>,
    ) -> Self {
        let (air, ear) = listen(radio);
        world.set_intruder(Some(ear));
        radio[1].cut(&mut world, Instant::ZERO);
        Self { world, hosts, radio, air, until: way.until, file, tally }
    }

    /// Has `observer` see what is about to arrive, instead of what notes arrivals for [`Journey`].
    pub fn observe(&mut self, observer: Box<dyn Intruder>) {
        self.world.set_intruder(Some(observer));
    }

    /// Has nothing pass over a cell any more, without telling anybody.
    pub fn cut(&mut self, cell: usize) {
        self.world.act(Action::Link(self.radio[cell].link, Side::Both, Change::Down(InFlight::Lost)));
    }

    /// Of everything that has happened.
    pub const fn fingerprint(&self) -> u64 {
        self.world.trace_hash()
    }

    /// Records the run from now on.
    pub fn record(&mut self, watch: Watch) {
        let links = [(self.radio[0].link, "cell 0"), (self.radio[1].link, "cell 1")];
        let _ = watch.record(&mut self.world, &links);
    }

    /// Runs until the file is there, or the way ends.
    pub fn run(mut self, watch: Watch) -> Journey {
        self.record(watch);
        let Self { hosts: [cn, mn], file, tally, .. } = self;
        let is_there = |tally: &&Tally| tally.received >= file;
        self.world
            .run_until_or(self.until, |world| tally(world.app(mn)).is_some_and(|reader| is_there(&reader)));
        let _ = self.world.finish();
        let began = tally(self.world.app(cn)).and_then(|sender| sender.up);
        let done = tally(self.world.app(mn)).filter(is_there).and_then(|reader| reader.silence.last());
        let lost = |radio: Uplink| {
            let stats = self.world.stats(radio.link, Side::AtoB);
            stats.dropped_for(DropReason::Cut) + stats.dropped_for(DropReason::Down)
        };
        Journey {
            transfer_time: began.zip(done).map(|(began, done)| done - began),
            arrivals: core::mem::take(&mut *self.air.read()),
            lost: self.radio.map(lost).iter().sum(),
            fingerprint: self.fingerprint(),
        }
    }
}
