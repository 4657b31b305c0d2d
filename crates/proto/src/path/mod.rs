//! One path: a pair of addresses and everything that is known about the way between them.

pub(crate) mod amplification;
pub(crate) mod choice;
pub mod congestion;
pub(crate) mod pmtu;
pub(crate) mod rto;
mod set;

use core::time::Duration;

use whimbrel_machine::{Fragmentation, Instant, Route};
use whimbrel_wire::{COMMON_HEADER_LEN, Tsn};

use self::congestion::{CongestionControl, NewPath};
use self::pmtu::PathMtu;
use self::rto::Rto;
pub(crate) use self::set::Paths;
use crate::association::PortProbe;
use crate::config::{BurstLimit, Config};
use crate::interface::{PathCounters, PathId, PathState, PathView};

/// A path of an association (RFC 9260 §14.3), which is an address pair.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) id: PathId,
    pub(crate) route: Route,
    pub(crate) state: PathState,
    /// A heartbeat has been answered, or the user or the cookie vouches for it (RFC 9260 §5.4). Never undone.
    pub(crate) confirmed: bool,
    pub(crate) egress: Egress,
    pub(crate) rto: Rto,
    pub(crate) congestion: Box<dyn CongestionControl>,
    pub(crate) pmtu: PathMtu,
    /// Wire bytes of DATA chunks in flight.
    pub(crate) flight_size: usize,
    /// Flight size when this path last had its turn to send: whether cwnd was used up is judged by it, since several
    /// SACKs may arrive before the next turn (RFC 9260 §7.2.1).
    pub(crate) utilised: usize,
    /// Lowest TSN in flight here; T3-rtx guards it (RFC 9260 §6.3.2 R3).
    pub(crate) earliest: Option<Tsn>,
    /// Consecutive errors (RFC 9260 §8.2).
    pub(crate) error_count: u32,
    /// T3-rtx expirations since DATA sent here last moved the Cumulative TSN Ack Point. Unlike `error_count`, answered
    /// heartbeats leave it alone: they are small, and say nothing about full packets (RFC 8899 §4.3).
    pub(crate) data_timeouts: u32,
    /// The DATA chunk whose round trip is being timed: one per round trip (RFC 9260 §6.3.1 C4).
    pub(crate) timed: Option<(Tsn, Instant)>,
    /// After T3-rtx at most one packet is in flight until something is acknowledged (RFC 9260 §7.2.3).
    pub(crate) one_packet: bool,
    /// One packet may ignore cwnd: the fast retransmission (RFC 9260 §7.2.4 step 3) or the retransmission at
    /// T3-rtx (§6.3.3 E3).
    pub(crate) forced: bool,
    /// Flight size must stay below this at the present opportunity (RFC 9260 §6.1 D).
    pub(crate) burst_limit: usize,
    /// Wire bytes acknowledged since the last opportunity.
    pub(crate) acked_since_burst: usize,
    /// When DATA was last sent here, for the decay of an idle cwnd (RFC 9260 §7.2.1).
    pub(crate) last_data: Option<Instant>,
    /// When something that measures the RTT or a HEARTBEAT was last sent: the path is idle if that is long ago
    /// (RFC 9260 §8.3).
    pub(crate) last_probing: Instant,
    /// When a packet last came by this path.
    pub(crate) heard: Option<Instant>,
    pub(crate) heartbeat: Option<PendingHeartbeat>,
    /// The port that the peer seems to have now.
    pub(crate) new_port: Option<PortProbe>,
    /// Nonce and size of the PMTU probe under way.
    pub(crate) pmtu_probe: Option<(u64, usize)>,
    /// The probe has left; otherwise it waits to be written.
    pub(crate) probe_written: bool,
    pub(crate) counters: PathCounters,
}

/// Whether packets may leave by a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Egress {
    Open,
    /// The link of its local address is down, or that address is being deleted (RFC 5061 §5.3 F4).
    Closed,
}

/// A HEARTBEAT that has not been answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingHeartbeat {
    pub(crate) nonce: u64,
    pub(crate) sent_at: Instant,
    /// It has left; otherwise it waits to be written.
    pub(crate) written: bool,
    /// It has been sent again, so its answer measures nothing.
    pub(crate) repeated: bool,
    /// The nonce of one sent before in vain, and when: its answer may still come.
    pub(crate) earlier: Option<(u64, Instant)>,
}

impl PendingHeartbeat {
    /// When the heartbeat with this nonce was sent, if it is this one or the earlier one.
    pub(crate) fn sent_with(&self, nonce: u64) -> Option<Instant> {
        let earlier = self.earlier.filter(|&(earlier, _)| earlier == nonce).map(|(_, sent_at)| sent_at);
        if self.nonce == nonce { Some(self.sent_at) } else { earlier }
    }
}

impl Path {
    pub(crate) fn new(id: PathId, route: Route, confirmed: bool, config: &Config, now: Instant) -> Self {
        let pmtu = PathMtu::new(&config.pmtu);
        let congestion = (config.congestion.controller)(&NewPath {
            pmdcs: pmtu.size() - COMMON_HEADER_LEN,
            ipv6: route.remote.is_ipv6(),
            initial_window: config.congestion.initial_window,
            slow_start_limit: config.congestion.slow_start_limit,
        });
        Self {
            id,
            route,
            state: if confirmed { PathState::Active } else { PathState::Unconfirmed },
            confirmed,
            egress: Egress::Open,
            rto: Rto::new(&config.rto),
            congestion,
            pmtu,
            flight_size: 0,
            utilised: 0,
            earliest: None,
            error_count: 0,
            data_timeouts: 0,
            timed: None,
            one_packet: false,
            forced: false,
            burst_limit: usize::MAX,
            acked_since_burst: 0,
            last_data: None,
            last_probing: now,
            heard: None,
            heartbeat: None,
            new_port: None,
            pmtu_probe: None,
            probe_written: false,
            counters: PathCounters::default(),
        }
    }

    /// Whether it may carry data, in whatever state it is.
    pub(crate) fn is_usable(&self) -> bool {
        self.confirmed && self.egress == Egress::Open
    }

    /// Path Maximum DATA Chunk Size: the largest DATA chunk, header and padding included (RFC 9260 §1.3).
    pub(crate) fn pmdcs(&self) -> usize {
        self.pmtu.size() - COMMON_HEADER_LEN
    }

    /// Largest SCTP packet, a multiple of 4 bytes.
    pub(crate) fn packet_size(&self) -> usize {
        self.pmtu.size() & !3
    }

    /// Whether an SCTP packet of `bytes` may be fragmented on its way: one that is larger than the path carries and
    /// could not be made smaller (RFC 9260 §6.9), or anything while not even the base size gets through.
    pub(crate) fn fragmentation(&self, bytes: usize) -> Fragmentation {
        if bytes > self.packet_size() || self.pmtu.is_in_error() {
            Fragmentation::Allowed
        } else {
            Fragmentation::Forbidden
        }
    }

    /// Whether cwnd and the burst limit let another packet out (RFC 9260 §6.1 B and D, §7.2.3).
    pub(crate) fn may_send(&self) -> bool {
        if self.one_packet && self.flight_size > 0 {
            return false;
        }
        self.flight_size < self.congestion.cwnd().min(self.burst_limit)
    }

    /// Whether cwnd lets no packet out, whatever the burst limit (RFC 9260 §6.1 B).
    pub(crate) fn is_window_full(&self) -> bool {
        self.flight_size >= self.congestion.cwnd()
    }

    /// Begins a transmission opportunity: sets the burst limit anew.
    pub(crate) fn open_burst(&mut self, limit: BurstLimit) {
        let acked = core::mem::take(&mut self.acked_since_burst);
        let allowance = match limit {
            BurstLimit::Packets(packets) => packets as usize * self.pmdcs(),
            BurstLimit::AckClocked(packets) => packets as usize * self.pmdcs() + 2 * acked,
        };
        self.utilised = self.flight_size;
        self.burst_limit = self.flight_size.saturating_add(allowance);
    }

    /// Decays the window of a path that carried no DATA, once per RTO of silence (RFC 9260 §7.2.1).
    pub(crate) fn decay_if_idle(&mut self, now: Instant) {
        /// More halvings than any window survives.
        const MOST: u32 = 32;
        let Some(last) = self.last_data else { return };
        if self.flight_size > 0 {
            return;
        }
        let idle = now.saturating_since(last);
        let rto = self.rto.current().max(Duration::from_nanos(1));
        let periods = (idle.as_nanos() / rto.as_nanos()).min(u128::from(MOST)) as u32;
        for _ in 0..periods {
            self.congestion.on_idle_period();
        }
        if periods > 0 {
            self.last_data = Some(now);
        }
    }

    pub(crate) fn view(&self, primary: bool, in_use: bool) -> PathView {
        PathView {
            id: self.id,
            route: self.route,
            state: self.state,
            primary,
            in_use,
            srtt: self.rto.srtt(),
            rto: self.rto.current(),
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            flight_size: self.flight_size,
            packet_size: self.pmtu.size(),
            error_count: self.error_count,
            counters: self.counters,
        }
    }
}
