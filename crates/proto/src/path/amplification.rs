//! Keeps the endpoint from being an amplifier: how often addresses that nobody has confirmed are probed.
//!
//! A peer lists addresses in INIT, and nothing proves that they are its own (RFC 9260 §5.4, RFC 5062 §5, §6). What goes to
//! such an address is limited by kind, so that no account of bytes is needed:
//!
//! - A HEARTBEAT of less than 100 bytes, unasked: one per RTO and path until the path counts as failed (PMR + 1 of
//!   them), one per heartbeat interval after that, and HB.Max.Burst per RTO over all paths ([`ProbeBurst`]).
//! - A HEARTBEAT ACK, no longer than the HEARTBEAT it answers, one per packet.
//! - The first of these HEARTBEATs may go with a HEARTBEAT ACK: less than twice what came.
//! - A COOKIE ACK with a HEARTBEAT, which answers a longer COOKIE ECHO.
//!
//! Path MTU probes, SACK, ERROR, SHUTDOWN and DATA only go to confirmed addresses.

use core::time::Duration;

use whimbrel_machine::Instant;

/// HB.Max.Burst: how many packets may probe unconfirmed paths of an association within one RTO (RFC 9260 §5.4).
#[derive(Clone, Debug)]
pub(crate) struct ProbeBurst {
    max: u32,
    sent: u32,
    ends: Instant,
}

impl ProbeBurst {
    /// `max` is HB.Max.Burst; at least one probe per RTO is always allowed, or no path would ever be confirmed.
    pub(crate) fn new(max: u32) -> Self {
        Self { max: max.max(1), sent: 0, ends: Instant::ZERO }
    }

    /// Whether a probe may be sent, and counts it. `rto` is that of the path to be probed; the first probe of a
    /// burst sets how long the burst lasts.
    #[must_use]
    pub(crate) fn try_send(&mut self, now: Instant, rto: Duration) -> bool {
        if now >= self.ends {
            self.sent = 0;
            self.ends = now + rto;
        }
        let allowed = self.sent < self.max;
        self.sent += u32::from(allowed);
        allowed
    }

    /// When the next probe may be sent after [`try_send`](Self::try_send) has refused one.
    pub(crate) fn next_opportunity(&self) -> Instant {
        self.ends
    }
}

#[cfg(test)]
#[path = "amplification_tests.rs"]
mod tests;
