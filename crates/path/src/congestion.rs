//! Congestion control of one path (RFC 9260 §7): the trait a new idea implements; [`Reno`], the RFC's own, and [`Cubic`], which
//! [`HyStart`] makes leave slow start in time and [`Paced`] spreads over the round trip; [`Coupled`], which heeds the other paths; and [`Bbr`].

use core::fmt::Debug;
use core::time::Duration;

use whimbrel_machine::Instant;

mod bbr;
mod coupled;
mod cubic;
mod hystart;
mod paced;
mod reno;
mod windows;

pub use bbr::{Bbr, BbrParameters};
pub use coupled::{Coupled, CoupledParameters, Coupling, Shared, SharedPath};
pub use cubic::{Cubic, CubicParameters};
pub use hystart::{HyStart, HyStartParameters};
pub use paced::{Paced, PacedParameters};
pub use reno::{Reno, RenoParameters};

pub use crate::pacing::Pacing;

/// Decides how much may be in flight on one path.
///
/// All sizes are bytes of DATA chunks, chunk header and padding included (RFC 9260 §7.2). Each path has its own
/// controller, which sees only what happens on that path. The sender counts what is in flight, detects losses,
/// limits bursts, and sends whenever the flight size is below [`cwnd`](Self::cwnd); the controller only moves its window, and says how
/// fast that leaves if it wants [`pacing`](Self::pacing). What is there for models of the path alone has a default that does nothing.
pub trait CongestionControl: Debug + Send {
    /// The congestion window in bytes. A packet may be sent while less than this is in flight, so it overbooks by
    /// less than one packet (RFC 9260 §6.1 B).
    fn cwnd(&self) -> usize;

    /// The window as it was learnt, in bytes, without what may be in flight beyond it for a while: what buffers go by.
    fn learnt_cwnd(&self) -> usize {
        self.cwnd()
    }

    /// The slow-start threshold in bytes.
    fn ssthresh(&self) -> usize;

    /// A SACK acknowledged DATA sent on this path. Where the same SACK reports a loss too, this comes before
    /// [`on_fast_retransmit`](Self::on_fast_retransmit) (RFC 9260 §7.2.4, last note).
    fn on_acked(&mut self, acked: &Acked);

    /// DATA last sent on this path is lost by miss indications, and the association was not in Fast Recovery
    /// (RFC 9260 §7.2.4 rule 2): called once per Fast Recovery.
    fn on_fast_retransmit(&mut self);

    /// T3-rtx expired on this path (RFC 9260 §6.3.3 E1).
    fn on_timeout(&mut self);

    /// No DATA was sent on this path for one more RTO (RFC 9260 §7.2.1, last rule).
    fn on_idle_period(&mut self);

    /// The largest DATA chunk that fits into a packet of this path has changed (PMDCS, RFC 9260 §1.3), in bytes
    /// with its header.
    fn on_packet_size(&mut self, pmdcs: usize);

    /// Takes over a window known by other means, such as a handover policy's estimate of the new network. Bytes.
    fn install(&mut self, cwnd: usize, ssthresh: usize);

    /// What was taken for a loss by a timer was late, and nothing else: these are the windows from before, in bytes, or what they have
    /// become since if that is more.
    fn undo(&mut self, cwnd: usize, ssthresh: usize) {
        self.install(cwnd, ssthresh);
    }

    /// A packet with DATA has left on this path.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A SACK has shown DATA last sent on this path to be lost; comes before [`on_acked`](Self::on_acked) for the same SACK, and, unlike
    /// [`on_fast_retransmit`](Self::on_fast_retransmit), for each loss.
    fn on_lost(&mut self, _lost: &Lost) {}

    /// A HEARTBEAT of this path was answered after this time. DATA that is sent again and again has no round trip (RFC 9260 §6.3.1 C5), and
    /// this one is as new.
    fn on_answer(&mut self, _took: Duration) {}

    /// The user has no more to send while this many bytes are in flight on this path, and the window has room.
    fn on_app_limited(&mut self, _in_flight: usize) {}

    /// How fast the window leaves, asked at each opportunity to send; `None` for as fast as the host can.
    fn pacing(&self) -> Option<Pacing> {
        None
    }

    /// These paths carry data besides this one. Told before [`on_acked`](Self::on_acked) where several do.
    fn on_shared(&mut self, _shared: &Shared<'_>) {}

    /// Bytes that were acknowledged between the last two losses, or since the last one if that is more, if the controller counts them.
    fn between_losses(&self) -> u64 {
        0
    }

    /// What the path delivers, in bytes a second, if the controller measures that.
    fn bandwidth(&self) -> Option<u64> {
        None
    }

    /// What slow start grows by at most for one SACK, in bytes (RFC 9260 §7.2.1: L full chunks).
    fn most_per_sack(&self) -> usize {
        usize::MAX
    }

    /// What the window does at present, for those who watch.
    fn phase(&self) -> CongestionPhase {
        if self.cwnd() > self.ssthresh() { CongestionPhase::Avoidance } else { CongestionPhase::SlowStart }
    }
}

/// What a congestion window does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum CongestionPhase {
    /// It grows by what is acknowledged (RFC 9260 §7.2.1).
    SlowStart,
    /// It grows by a part of that, because the round-trip time has risen (RFC 9406 §4.2).
    ConservativeSlowStart,
    /// It grows by one packet per round trip (RFC 9260 §7.2.2), or as a cubic function of time (RFC 9438 §4.2).
    Avoidance,
    /// BBR doubles its rate each round trip until the path delivers no more.
    Startup,
    /// BBR empties the queue that came of that.
    Drain,
    /// BBR empties the queue that came of looking for more.
    ProbeBandwidthDown,
    /// BBR sends as much as the path delivers.
    ProbeBandwidthCruise,
    /// BBR fills the path, to look for more.
    ProbeBandwidthRefill,
    /// BBR looks for more.
    ProbeBandwidthUp,
    /// BBR keeps little in flight, to measure the round trip without a queue.
    ProbeRoundTrip,
}

/// Makes the controller of each path of an association. An implementation holds the parameters of its controllers.
pub trait ControllerFactory: Debug + Send + Sync {
    /// The controller of a new path.
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl>;

    /// Checks the parameters.
    ///
    /// # Errors
    /// What is wrong with them.
    fn validate(&self) -> Result<(), &'static str> {
        Ok(())
    }

    /// Whether its controllers heed a slow-start threshold. One that models the path has none.
    fn has_threshold(&self) -> bool {
        true
    }
}

/// What one SACK means for one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acked {
    /// When the SACK arrived.
    pub now: Instant,
    /// Bytes acknowledged for the first time, by the Cumulative TSN Ack or by Gap Ack Blocks, of DATA last sent on
    /// this path; chunk headers and padding included.
    pub bytes: usize,
    /// Bytes in flight on this path when the sender last had the opportunity to send. Several SACKs that are
    /// handled without sending in between share the value from before the first of them: otherwise all but the
    /// first would find the window half empty, through no fault of the sender.
    pub flight_size_before: usize,
    /// Round-trip time of the youngest of these chunks, if it was sent once; the receiver's delay is part of it.
    pub rtt: Option<Duration>,
    /// Whether the SACK advanced the Cumulative TSN Ack Point; where several paths carry data, the point of this path.
    pub cumulative_advanced: bool,
    /// Whether the window may grow for it, by the rule that says which SACKs let it.
    pub grows: bool,
    /// Whether the association was in Fast Recovery when this SACK came, even if it ends it (RFC 9260 §7.2.4 rule 6).
    pub in_fast_recovery: bool,
    /// Whether nothing is outstanding any more, on any path (RFC 9260 §7.2.2, last rule).
    pub all_acknowledged: bool,
    /// Bytes in flight on this path now.
    pub in_flight: usize,
    /// When the youngest of these chunks left, for the last time. `None` if that cannot be told.
    pub newest_sent: Option<Instant>,
}

/// A packet with DATA that has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Bytes of DATA chunks in it.
    pub bytes: usize,
    /// Bytes in flight on the path, those of the packet included.
    pub in_flight: usize,
}

/// What one SACK shows to be lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// When the SACK arrived.
    pub now: Instant,
    /// Bytes of DATA chunks.
    pub bytes: usize,
    /// When the youngest of these chunks left, for the last time.
    pub newest_sent: Instant,
}

/// The congestion window of a path that has not been used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// RFC 9260 §7.2.1: min(4·PMDCS, max(2·PMDCS, 4404)) bytes (4344 for IPv6).
    Standard,
    /// This many full packets, as RFC 6928 does with 10.
    Packets(u32),
    /// This many bytes, but at least one full packet.
    Bytes(usize),
}

/// What a controller is told about its path when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewPath {
    /// The largest DATA chunk that fits into a packet, header included, in bytes.
    pub pmdcs: usize,
    /// Whether the peer's address is an IPv6 address.
    pub ipv6: bool,
    /// cwnd to begin with.
    pub initial_window: InitialWindow,
    /// ssthresh to begin with, in bytes; arbitrarily high (RFC 9260 §7.2.1) unless given.
    pub ssthresh: Option<usize>,
    /// What random choices of the controller descend from: another number for each path.
    pub seed: u64,
}

impl NewPath {
    /// The initial cwnd in bytes (RFC 9260 §7.2.1, first rule).
    pub fn initial_cwnd(&self) -> usize {
        match self.initial_window {
            InitialWindow::Standard => {
                let floor = if self.ipv6 { 4344 } else { 4404 };
                (4 * self.pmdcs).min((2 * self.pmdcs).max(floor))
            }
            InitialWindow::Packets(packets) => {
                self.pmdcs.saturating_mul(packets.max(1) as usize).min(LARGEST_WINDOW)
            }
            InitialWindow::Bytes(bytes) => bytes.clamp(self.pmdcs, LARGEST_WINDOW),
        }
    }
}

/// A round-trip time smoothed as RFC 9260 §6.3.1 C3 has it, which takes in one more measurement. The path's own, in [`crate::rto`], takes one each
/// round trip, and a controller hears of all.
fn smoothed(before: Option<Duration>, rtt: Duration) -> Duration {
    before.map_or(rtt, |before| (before * 7).saturating_add(rtt) / 8)
}

/// No receiver can advertise more, so a larger window means nothing (RFC 9260 §7.2.1: the initial ssthresh).
const LARGEST_WINDOW: usize = u32::MAX as usize;

#[cfg(test)]
impl Acked {
    /// So many bytes, from a window that was in full use.
    fn of(now: Instant, bytes: usize) -> Self {
        Self {
            now,
            bytes,
            flight_size_before: usize::MAX,
            rtt: None,
            cumulative_advanced: true,
            grows: true,
            in_fast_recovery: false,
            all_acknowledged: false,
            in_flight: 0,
            newest_sent: None,
        }
    }
}
