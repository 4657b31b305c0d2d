//! Reno's windows that grow with an eye on those of the other paths of an association, so that several paths over one bottleneck take no more
//! of it than one connection does.

mod lia;
mod olia;
mod resource_pooling;

use core::fmt::Debug;
use core::time::Duration;

use self::lia::Lia;
use self::olia::Olia;
use self::resource_pooling::ResourcePooling;
use super::windows::{SLOW_START_LIMIT, Windows};
use super::{Acked, CongestionControl, ControllerFactory, NewPath};

/// How the windows of several paths grow together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coupling {
    /// Linked increases (RFC 6356).
    Lia,
    /// Opportunistic linked increases (draft-khalili-mptcp-congestion-control): as before, and paths that have carried much between losses win windows from those
    /// that have the largest.
    Olia,
    /// Resource pooling, version 2 (CMT/RPv2): each path grows, and is reduced, by its share of what all of them carry.
    ResourcePooling,
}

/// A path of the association that carries data, as a controller sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedPath {
    /// Its congestion window, bytes.
    pub cwnd: usize,
    /// Its smoothed round trip.
    pub round_trip: Duration,
    /// Bytes that were acknowledged between the last two losses, or since the last one if that is more.
    pub between_losses: u64,
}

/// All paths that carry data, and which of them is the controller's own.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    /// One or more.
    pub paths: &'a [SharedPath],
    /// The position of its own.
    pub own: usize,
}

/// Growth is reckoned in units of 2⁻¹⁶ bytes.
const FRACTION_BITS: u32 = 16;

impl Shared<'_> {
    fn own(&self) -> SharedPath {
        self.paths[self.own]
    }

    /// What all paths carry, in [`SharedPath::rate`]'s unit; not 0.
    fn rate(&self) -> u128 {
        self.paths.iter().map(SharedPath::rate).sum::<u128>().max(1)
    }
}

impl SharedPath {
    /// Its round trip in µs; not 0.
    fn micros(&self) -> u128 {
        self.round_trip.as_micros().max(1)
    }

    /// What it carries, in 2⁻²⁰ bytes per µs.
    fn rate(&self) -> u128 {
        ((self.cwnd as u128) << 20) / self.micros()
    }

    /// Its rate divided by its round trip, in 2⁻⁴⁰ bytes per µs².
    fn acceleration(&self) -> u128 {
        ((self.cwnd as u128) << 40) / (self.micros() * self.micros())
    }
}

/// What `bytes` acknowledged on a path let a window grow by that shares `part` of what all carry: as a single connection's, in the unit of growth.
fn linked(bytes: usize, mss: usize, part: u128, rate: u128) -> u128 {
    let acked = (bytes as u128 * mss as u128) << FRACTION_BITS;
    acked.saturating_mul(part) / rate.saturating_mul(rate).max(1)
}

/// What differs between the ways of coupling.
trait Increase: Debug + Send {
    /// What `bytes` acknowledged in congestion avoidance change the window by, in 2⁻¹⁶ bytes.
    fn avoidance(&self, bytes: usize, mss: usize, shared: &Shared<'_>) -> i128;

    /// What they let it grow by in slow start, bytes.
    fn slow_start(&self, bytes: usize, _shared: &Shared<'_>) -> usize {
        bytes
    }

    /// What a loss leaves of a window, bytes.
    fn left(&self, cwnd: usize, _shared: &Shared<'_>) -> usize {
        cwnd / 2
    }
}

/// A window that grows with an eye on the others; all else is as [`Reno`](super::Reno) has it.
#[derive(Debug)]
pub struct Coupled {
    windows: Windows,
    rule: Box<dyn Increase>,
    /// All paths, and where the own one is among them.
    paths: Vec<SharedPath>,
    own: usize,
    /// Growth that does not make a byte yet.
    fraction: i128,
    /// Bytes acknowledged between the last two losses, and since.
    between: [u64; 2],
}

/// Makes [`Coupled`] controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoupledParameters {
    /// How they are coupled.
    pub coupling: Coupling,
    /// L of RFC 9260 §7.2.1: slow start grows by at most this many full chunks per SACK; at least 1.
    pub slow_start_limit: u32,
}

impl CoupledParameters {
    /// With what hosts that move have besides.
    pub const fn new(coupling: Coupling) -> Self {
        Self { coupling, slow_start_limit: SLOW_START_LIMIT }
    }
}

impl ControllerFactory for CoupledParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Coupled::new(path, *self))
    }

    fn validate(&self) -> Result<(), &'static str> {
        Windows::validate(self.slow_start_limit)
    }
}

impl Coupled {
    /// The controller of a new path.
    pub fn new(path: &NewPath, parameters: CoupledParameters) -> Self {
        Self {
            windows: Windows::new(path, parameters.slow_start_limit),
            rule: match parameters.coupling {
                Coupling::Lia => Box::new(Lia),
                Coupling::Olia => Box::new(Olia),
                Coupling::ResourcePooling => Box::new(ResourcePooling),
            },
            paths: Vec::new(),
            own: 0,
            fraction: 0,
            between: [0; 2],
        }
    }

    /// Does what `act` says with all paths; with this one alone where nobody has told of others.
    fn shared<T>(&self, act: impl FnOnce(&dyn Increase, &Shared<'_>) -> T) -> T {
        let round_trip = Duration::from_millis(100);
        let alone = [SharedPath { cwnd: self.windows.cwnd, round_trip, between_losses: 0 }];
        let (paths, own) = if self.paths.is_empty() { (&alone[..], 0) } else { (&self.paths[..], self.own) };
        act(&*self.rule, &Shared { paths, own })
    }

    fn avoid_congestion(&mut self, acked: &Acked) {
        let mss = self.windows.pmdcs();
        self.fraction += self.shared(|rule, shared| rule.avoidance(acked.bytes, mss, shared));
        let bytes = self.fraction >> FRACTION_BITS;
        self.fraction -= bytes << FRACTION_BITS;
        match usize::try_from(bytes) {
            // No more than a window that is alone would.
            Ok(bytes) => self.windows.grow(bytes.min(acked.bytes)),
            Err(_) => self.windows.shrink(usize::try_from(-bytes).unwrap_or(usize::MAX)),
        }
    }

    fn note_loss(&mut self) {
        self.between = [self.between[1], 0];
        self.fraction = 0;
    }
}

impl CongestionControl for Coupled {
    fn cwnd(&self) -> usize {
        self.windows.cwnd
    }

    fn ssthresh(&self) -> usize {
        self.windows.ssthresh
    }

    fn on_shared(&mut self, shared: &Shared<'_>) {
        self.paths.clear();
        self.paths.extend_from_slice(shared.paths);
        self.own = shared.own;
    }

    fn between_losses(&self) -> u64 {
        self.between[0].max(self.between[1])
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.windows.used();
        self.between[1] = self.between[1].saturating_add(acked.bytes as u64);
        let fully_utilised = self.windows.is_fully_utilised(acked.flight_size_before);
        if !acked.grows || acked.in_fast_recovery || !fully_utilised {
            return;
        }
        if self.windows.is_in_slow_start() {
            let bytes = self.shared(|rule, shared| rule.slow_start(acked.bytes, shared));
            self.windows.grow_in_slow_start(bytes);
        } else {
            self.avoid_congestion(acked);
        }
    }

    fn on_fast_retransmit(&mut self) {
        let cwnd = self.windows.cwnd;
        self.windows.on_loss(self.shared(|rule, shared| rule.left(cwnd, shared)));
        self.note_loss();
    }

    fn on_timeout(&mut self) {
        let cwnd = self.windows.cwnd;
        self.windows.on_timeout(self.shared(|rule, shared| rule.left(cwnd, shared)));
        self.note_loss();
    }

    fn on_idle_period(&mut self) {
        self.windows.on_idle_period();
    }

    fn on_packet_size(&mut self, pmdcs: usize) {
        self.windows.on_packet_size(pmdcs);
    }

    fn install(&mut self, cwnd: usize, ssthresh: usize) {
        self.windows.install(cwnd, ssthresh);
        self.fraction = 0;
    }

    fn most_per_sack(&self) -> usize {
        self.windows.most_per_sack()
    }
}

#[cfg(test)]
#[path = "coupled_tests.rs"]
mod tests;
