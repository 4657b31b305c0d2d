//! Keeps the endpoint from being an amplifier: how often addresses that nobody has confirmed are probed.
//!
//! A peer lists addresses in INIT, and nothing proves that they are its own (RFC 9260 §5.4, RFC 5062 §5, §6). What goes to
//! such an address is limited by kind, so that no account of bytes is needed:
//!
//! - A HEARTBEAT of less than 100 bytes, unasked: one per RTO and path until the path counts as failed (PMR + 1 of
//!   them), one per heartbeat interval after that, and HB.Max.Burst per RTO over all paths ([`ProbeBurst`]).
//! - A HEARTBEAT ACK, no longer than the HEARTBEAT it answers, one per packet.
//! - The first of these HEARTBEATs may go with a HEARTBEAT ACK: less than twice what came.
//! - An ASCONF that gets no answer at any confirmed address: PMR + 1 of them per address, then one per heartbeat interval for all of them,
//!   and within the same HB.Max.Burst ([`ProbeBurst`]).
//! - A COOKIE ACK with a HEARTBEAT, which answers a longer COOKIE ECHO.
//!
//! Whoever sets up many associations, each with a list of somebody else's addresses, gets one budget for all of them
//! ([`StrangerProbes`]), so that an endpoint's probes never flood anybody however many associations it has. A remote address that
//! another path of the association has confirmed is no stranger.
//!
//! Path MTU probes, SACK, ERROR, SHUTDOWN and DATA only go to confirmed addresses, but for so many bytes as somebody vouches
//! for (`association/vouched.rs`).

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::Instant;

/// Probes to addresses that nobody has confirmed, of all associations of an endpoint together, per second. HEARTBEATs have less
/// than 100 bytes, 800 kbit/s; an ASCONF with AUTH and several changes may have several times as many.
const STRANGERS_PER_SECOND: u64 = 1000;

/// As many may go at once after a pause.
const STRANGERS_AT_ONCE: u64 = 1000;

/// Nanoseconds between two probes in the long run.
const INTERVAL: u64 = 1_000_000_000 / STRANGERS_PER_SECOND;

/// The budget that an endpoint's associations share for probing addresses which nobody has confirmed (RFC 9260 §5.4,
/// RFC 5062 §5, §6).
///
/// It holds the time at which everything sent so far would have been sent at [`STRANGERS_PER_SECOND`], in nanoseconds. An
/// endpoint has one thread, so the order in which its associations draw from it is the same in every run.
#[derive(Clone, Debug, Default)]
pub(crate) struct StrangerProbes(Arc<AtomicU64>);

impl StrangerProbes {
    fn take(&self, now: Instant) -> bool {
        let now = now.as_nanos();
        let paid = self.0.load(Ordering::Relaxed).max(now);
        let allowed = paid - now < STRANGERS_AT_ONCE * INTERVAL;
        if allowed {
            self.0.store(paid.saturating_add(INTERVAL), Ordering::Relaxed);
        }
        allowed
    }
}

/// HB.Max.Burst: how many packets may probe unconfirmed paths of an association within one RTO (RFC 9260 §5.4).
#[derive(Clone, Debug)]
pub(crate) struct ProbeBurst {
    max: u32,
    sent: u32,
    ends: Instant,
    strangers: StrangerProbes,
}

impl ProbeBurst {
    /// `max` is HB.Max.Burst; at least one probe per RTO is always allowed, or no path would ever be confirmed.
    pub(crate) fn new(max: u32, strangers: StrangerProbes) -> Self {
        Self { max: max.max(1), sent: 0, ends: Instant::ZERO, strangers }
    }

    /// Whether a probe may be sent to an address that nobody has confirmed, and counts it. `rto` is that of the path to be
    /// probed; the first probe of a burst sets how long the burst lasts.
    #[must_use]
    pub(crate) fn try_send(&mut self, now: Instant, rto: Duration) -> bool {
        self.has_room(now, rto) && self.strangers.take(now) && self.count()
    }

    /// The same where the remote address is known to be the peer's, and only this way there is in question.
    #[must_use]
    pub(crate) fn try_send_to_peer(&mut self, now: Instant, rto: Duration) -> bool {
        self.has_room(now, rto) && self.count()
    }

    fn has_room(&mut self, now: Instant, rto: Duration) -> bool {
        if now >= self.ends {
            self.sent = 0;
            self.ends = now + rto;
        }
        self.sent < self.max
    }

    fn count(&mut self) -> bool {
        self.sent += 1;
        true
    }

    /// When the next probe may be sent after one has been refused.
    pub(crate) fn next_opportunity(&self) -> Instant {
        self.ends
    }
}

#[cfg(test)]
#[path = "amplification_tests.rs"]
mod tests;
