use core::time::Duration;

use whimbrel_wire::Tsn;

/// Recoveries without a duplicate after which the window is again what it was at first (RFC 8985 §6.2 step 4).
const PERSISTENCE: u32 = 16;

/// More than this is not waited for, however late packets are. An emulator's jitter and lines that a tunnel is spread over stay below it.
const LONGEST: Duration = Duration::from_millis(500);

/// The reordering window: how long a packet may be late behind one that was sent after it (RFC 8985 §6.2 steps 3 and 4).
///
/// Duplicate TSNs in SACKs are what DSACK is in TCP: something was sent again that had arrived, so that the window was too short. The RFC's steps of a
/// quarter of the least round trip take long where packets are late by several round trips. So what comes late before it is called lost tells, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReorderingWindow {
    /// Something has arrived after what was sent later.
    seen: bool,
    /// Quarters of the least round trip.
    quarters: u32,
    /// How late something has been.
    late: Duration,
    /// Duplicates count again when this has been acknowledged: once in a round trip.
    round: Option<Tsn>,
    /// Recoveries until it is again what it was at first.
    persists: u32,
}

impl Default for ReorderingWindow {
    fn default() -> Self {
        Self { seen: false, quarters: 1, late: Duration::ZERO, round: None, persists: 0 }
    }
}

impl ReorderingWindow {
    /// Something has arrived after what was sent later.
    pub(super) fn on_reordering(&mut self) {
        self.seen = true;
    }

    /// Something has arrived that a window of this length would have waited for just so.
    pub(super) fn on_late(&mut self, late: Duration) {
        let late = late.min(LONGEST);
        self.late = self.late.max(late);
        // Disorder goes on, and the window is needed.
        if late > self.late / 2 {
            self.persists = PERSISTENCE;
        }
    }

    /// The latest that something has been.
    pub(super) fn late(&self) -> Duration {
        self.late
    }

    /// What was sent again has come twice. All up to `acknowledged` is acknowledged, and `next` is sent next.
    pub(super) fn on_duplicate(&mut self, acknowledged: Tsn, next: Tsn) {
        self.seen = true;
        if self.round.is_none_or(|round| round.at_or_before(acknowledged)) {
            self.round = Some(next);
            self.quarters = self.quarters.saturating_add(1);
            self.persists = PERSISTENCE;
        }
    }

    /// Fast Recovery is over.
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            (self.quarters, self.late) = (1, Duration::ZERO);
        }
    }

    /// How long it is: no longer than a round trip (RFC 8985 §6.2 step 4) or what has been seen. `certain`: so much speaks for a loss that nothing is
    /// waited for unless packets have been reordered before.
    pub(super) fn length(&self, least: Duration, smoothed: Duration, certain: bool) -> Duration {
        if certain && !self.seen {
            return Duration::ZERO;
        }
        (least / 4).saturating_mul(self.quarters).min(smoothed).max(self.late)
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
