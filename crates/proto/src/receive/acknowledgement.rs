//! When to send a SACK (RFC 9260 §6.2, §6.7).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

/// Duplicate TSNs remembered for the next SACK; further ones are only counted.
pub(super) const MAX_DUPLICATES: usize = 16;

/// Decides about acknowledging, packet by packet.
#[derive(Debug)]
pub(super) struct Acknowledgement {
    /// SACK.Delay.
    delay: Duration,
    packets: u32,
    /// Packets with DATA since the last SACK.
    unacknowledged: u32,
    /// When the delay of the oldest of them is over.
    deadline: Option<Instant>,
    due: bool,
    /// What the packet being taken in asks for.
    packet: Option<Urgency>,
    /// Nothing has been received yet.
    fresh: bool,
    duplicates: Vec<Tsn>,
    /// The duplicates in the SACK last written.
    reported: Vec<Tsn>,
}

/// How soon a packet is to be acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Urgency {
    /// With the delay.
    Delayed,
    /// At once.
    Immediate,
}

impl Acknowledgement {
    pub(super) fn new(delay: Duration, packets: u32) -> Self {
        Self {
            delay,
            packets,
            unacknowledged: 0,
            deadline: None,
            due: false,
            packet: None,
            fresh: true,
            duplicates: Vec::new(),
            reported: Vec::new(),
        }
    }

    /// A DATA chunk of the current packet has been dealt with.
    #[inline]
    pub(super) fn on_chunk(&mut self, urgency: Urgency) {
        self.packet = self.packet.max(Some(urgency));
    }

    /// A DATA chunk of the current packet was a duplicate: the SACK was probably lost (RFC 9260 §6.2).
    pub(super) fn on_duplicate(&mut self, tsn: Tsn) {
        self.on_chunk(Urgency::Immediate);
        if self.duplicates.len() < MAX_DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    /// The packet is at its end. `has_gaps`: TSNs are missing, and each packet is acknowledged at once for that (RFC 9260 §6.7).
    #[inline]
    pub(super) fn packet_done(&mut self, now: Instant, has_gaps: bool) {
        let Some(urgency) = self.packet.take() else { return };
        // The first DATA at once: the peer's window is small and its RTT unmeasured, a delay would cost most here.
        let fresh = core::mem::replace(&mut self.fresh, false);
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        if fresh || has_gaps || urgency == Urgency::Immediate || self.unacknowledged >= self.packets {
            self.due = true;
        } else if self.deadline.is_none() {
            self.deadline = Some(now + self.delay);
        }
    }

    /// Makes a SACK due now.
    pub(super) fn force(&mut self) {
        self.due = true;
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due || self.deadline.is_some_and(|at| at <= now)
    }

    /// When a delayed SACK becomes due; `None` if one is due already or there is nothing to acknowledge.
    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.due { None } else { self.deadline }
    }

    /// Whether a SACK would tell something new.
    pub(super) fn is_pending(&self) -> bool {
        self.due || self.unacknowledged > 0
    }

    /// Packets with DATA since the last SACK.
    pub(super) fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// A SACK is written now; returns the duplicates to report, `max` at most.
    pub(super) fn sent(&mut self, max: usize) -> &[Tsn] {
        self.unacknowledged = 0;
        self.deadline = None;
        self.due = false;
        core::mem::swap(&mut self.duplicates, &mut self.reported);
        self.duplicates.clear();
        self.reported.truncate(max);
        &self.reported
    }
}

#[cfg(test)]
#[path = "acknowledgement_tests.rs"]
mod tests;
