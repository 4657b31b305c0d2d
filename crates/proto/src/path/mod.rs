//! One path: a pair of addresses and everything that is known about the way between them, but for what the sender keeps
//! ([`crate::send`]).

pub(crate) mod amplification;
mod control_path;
mod doubt;
mod set;
mod supervision;
#[cfg(any(test, fuzzing))]
pub(crate) mod testing;
mod together;

use core::time::Duration;

use whimbrel_machine::{Fragmentation, Instant, Route};
pub use whimbrel_path::congestion;
use whimbrel_path::{PathMtu, Rto};
use whimbrel_wire::COMMON_HEADER_LEN;

pub(crate) use self::control_path::{best, control_path};
pub(crate) use self::doubt::{Doubt, Verdict};
pub(crate) use self::set::Paths;
pub(crate) use self::supervision::{MtuProbe, PendingHeartbeat, Supervision};
pub(crate) use self::together::{PathIds, data_paths, is_sound};
use crate::config::Config;
use crate::interface::{DurationHistogram, PathCounters, PathId, PathState};

/// A path of an association (RFC 9260 §14.3), which is an address pair.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) id: PathId,
    pub(crate) route: Route,
    pub(crate) state: PathState,
    pub(crate) doubt: Doubt,
    /// A heartbeat has been answered, or the user or the cookie vouches for it (RFC 9260 §5.4). Never undone.
    pub(crate) confirmed: bool,
    pub(crate) egress: Egress,
    pub(crate) rto: Rto,
    pub(crate) pmtu: PathMtu,
    /// The path MTU probe under way.
    pub(crate) mtu_probe: Option<MtuProbe>,
    /// Consecutive errors (RFC 9260 §8.2).
    pub(crate) error_count: u32,
    pub(crate) supervision: Supervision,
    /// The totals that are about packets; those about DATA are the sender's.
    pub(crate) counters: PathCounters,
}

/// So many round trips tell how much they vary.
const SETTLED: u8 = 4;

/// A path is new for so long.
const SETTLING: Duration = Duration::from_secs(1);

/// Whether packets may leave by a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Egress {
    /// They may.
    Open,
    /// The link of its local address is down, or that address is being deleted (RFC 5061 §5.3 F4).
    Closed,
}

impl Path {
    pub(crate) fn new(id: PathId, route: Route, confirmed: bool, config: &Config, now: Instant) -> Self {
        Self {
            id,
            route,
            state: if confirmed { PathState::Active } else { PathState::Unconfirmed },
            doubt: Doubt::default(),
            confirmed,
            egress: Egress::Open,
            rto: Rto::new(&config.rto_of(route)),
            pmtu: PathMtu::new(&config.pmtu, route.remote.is_ipv6()),
            mtu_probe: None,
            error_count: 0,
            supervision: Supervision::new(now),
            counters: PathCounters::default(),
        }
    }

    /// Whether it may carry data, in whatever state it is.
    pub(crate) fn is_usable(&self) -> bool {
        self.is_trusted() && self.egress == Egress::Open
    }

    /// Whether it leads to the peer, as it has proved, or somebody vouches for that.
    pub(crate) const fn is_trusted(&self) -> bool {
        self.confirmed || self.supervision.is_vouched()
    }

    /// A round trip took so long (RFC 9260 §6.3.1); the association counts it in `round_trips`.
    pub(crate) fn on_measurement(
        &mut self,
        now: Instant,
        round_trip: Duration,
        round_trips: &mut DurationHistogram,
    ) {
        if self.supervision.has_returned_within(now, round_trip) {
            // It has lain with a host that was suspended, or has waited for the network to come back.
            return;
        }
        self.rto.on_measurement(round_trip);
        self.supervision.measured = Some(now);
        self.supervision.measurements = self.supervision.measurements.saturating_add(1);
        round_trips.record(round_trip);
    }

    /// The path works again after an outage: what left before measures nothing from now on, and what is measured next counts as the first.
    pub(crate) fn on_return(&mut self, now: Instant) {
        self.rto.on_return();
        self.supervision.note_return(now);
    }

    /// Whether enough was measured to tell how much round trips vary: after one or two, RTTVAR is a guess (RFC 9260 §6.3.1 C2). One that has
    /// been there for a while is not as busy, and its RTO is what there is.
    pub(crate) fn is_settled(&self, now: Instant) -> bool {
        self.supervision.measurements >= SETTLED || now > self.supervision.began + SETTLING
    }

    /// Whether it is suspect, and the heartbeat that asks may still be answered in time, or one has been answered so late that the next one decides.
    pub(crate) fn is_merely_suspect(&self) -> bool {
        self.state == PathState::Active && self.error_count == 0 && self.doubt.is_open()
    }

    /// Path Maximum DATA Chunk Size: the largest DATA chunk in bytes, header and padding included (RFC 9260 §1.3).
    pub(crate) fn pmdcs(&self) -> usize {
        self.pmtu.size() - COMMON_HEADER_LEN
    }

    /// Largest SCTP packet in bytes, a multiple of 4.
    pub(crate) fn packet_size(&self) -> usize {
        self.pmtu.size() & !3
    }

    /// Whether an SCTP packet of `bytes` may be fragmented on its way: one that is larger than the path carries and
    /// could not be made smaller (RFC 9260 §6.9), or anything while not even the size gets through that was to be confirmed.
    pub(crate) fn fragmentation(&self, bytes: usize) -> Fragmentation {
        if bytes > self.packet_size() || self.pmtu.is_in_error() {
            Fragmentation::Allowed
        } else {
            Fragmentation::Forbidden
        }
    }
}
