//! How long RACK waits for what may come out of order (RFC 8985 §6.2, steps 1, 3 and 4).

use core::time::Duration;

use whimbrel_machine::Instant;

use crate::tcp::arrivals::Arrivals;

/// So many recoveries a longer window lasts.
const PERSISTS: u32 = 16;
/// Linux's `tcp_min_rtt_wlen`: after so much time a least round trip is forgotten.
const MIN_RTT_AGE: Duration = Duration::from_secs(300);

/// The reordering window of a connection.
#[derive(Debug, Default)]
pub(super) struct ReorderingWindow {
    min_rtt: Option<(Duration, Instant)>,
    /// RACK.fack: the offset after the highest byte that has arrived.
    highest: u64,
    /// Something has come out of order.
    seen: bool,
    /// The window is this and one more quarters of the least round trip.
    longer_by: u32,
    /// Recoveries after which it is short again.
    persists: u32,
    /// RACK.dsack_round: it grows no more before this is acknowledged.
    round: Option<u64>,
}

impl ReorderingWindow {
    /// A segment sent once measured the round trip.
    pub(super) fn on_measurement(&mut self, now: Instant, rtt: Duration) {
        if self.min_rtt.is_none_or(|(least, at)| rtt <= least || now > at + MIN_RTT_AGE) {
            self.min_rtt = Some((rtt, now));
        }
    }

    /// The least round trip.
    pub(super) fn min_rtt(&self) -> Duration {
        self.min_rtt.map(|(least, _)| least).unwrap_or_default()
    }

    /// Segments have arrived: what was sent once and lies below what has arrived before came out of order.
    pub(super) fn on_arrivals(&mut self, arrivals: &Arrivals) {
        self.seen |= arrivals.lowest_once.is_some_and(|lowest| lowest < self.highest);
        self.highest = self.highest.max(arrivals.highest);
    }

    /// What was sent again has come twice: it was not waited for long enough. `acknowledged` and `end` are SND.UNA and SND.NXT.
    pub(super) fn on_duplicate(&mut self, acknowledged: u64, end: u64) {
        if self.round.is_none_or(|round| acknowledged >= round) {
            (self.round, self.persists) = (Some(end), PERSISTS);
            self.longer_by += 1;
        }
    }

    /// A recovery is over.
    pub(super) const fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.longer_by = 0;
        }
    }

    /// How long is waited. `certain`: a recovery goes on, or DupThresh segments are reported by SACK.
    pub(super) fn length(&self, certain: bool, srtt: Option<Duration>) -> Duration {
        if certain && !self.seen {
            return Duration::ZERO;
        }
        let quarters = self.longer_by.saturating_add(1);
        let longest = srtt.unwrap_or_else(|| self.min_rtt());
        (self.min_rtt() / 4).saturating_mul(quarters).min(longest)
    }
}

#[cfg(test)]
#[path = "reordering_tests.rs"]
mod tests;
