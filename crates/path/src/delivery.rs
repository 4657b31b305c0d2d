//! How fast a path delivers (draft-ietf-ccwg-bbr, Delivery Rate Samples).

use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;

/// Departures kept in mind, at most: what left before is not sampled.
const MOST: usize = 1 << 14;

/// Samples of the rate at which a path delivers: what was delivered between two acknowledgements a round trip apart, in the time that it
/// took, or in which it was sent if that is longer, so that acknowledgements that come together do not look like a fast path.
///
/// It belongs to controllers that ask for it, and costs the others nothing. What is kept belongs to a departure, all that was sent at one
/// instant, and not to a chunk: chunks carry the time of their last departure anyway. Amounts are bytes of DATA chunks.
#[derive(Clone, Debug)]
pub struct DeliveryRate {
    delivered: u64,
    delivered_at: Instant,
    /// When the first of what is being sampled left.
    first_sent: Instant,
    lost: u64,
    /// What is delivered until this much is was sent by a user who had no more.
    app_limited_until: u64,
    /// What left before so much was delivered is not sampled.
    distrusted_until: u64,
    departures: VecDeque<Departure>,
    /// Something of the last departure has been acknowledged.
    last_arrived: bool,
}

/// What was so when something left.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Instant,
    first_sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

/// What an acknowledgement says about the path, by the departure that is its youngest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Bytes a second; `None` if it took less than a round trip, so that it may be anything.
    pub rate: Option<u64>,
    /// Bytes delivered since the departure.
    pub delivered: u64,
    /// Bytes that had been delivered then.
    pub prior_delivered: u64,
    /// Bytes in flight then, those that left included.
    pub in_flight: u64,
    /// Bytes lost since.
    pub lost: u64,
    /// It left when the user had no more to send: the path may be faster.
    pub app_limited: bool,
}

/// What a loss says, by the youngest departure of what is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossSample {
    /// Bytes in flight at the departure, those that left included.
    pub in_flight: u64,
    /// Bytes lost since, the present loss included.
    pub lost: u64,
    /// It left when the user had no more to send.
    pub app_limited: bool,
}

impl DeliveryRate {
    /// Before anything has been sent.
    pub const fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost: 0,
            app_limited_until: 0,
            distrusted_until: 0,
            departures: VecDeque::new(),
            last_arrived: true,
        }
    }

    /// So many bytes have left, and so many are in flight with them.
    pub fn on_sent(&mut self, now: Instant, bytes: usize, in_flight: usize) {
        // What a timer called lost may have arrived. If the sample began with its retransmission, all that had waited for a SACK would count as
        // delivered within one round trip.
        if in_flight <= bytes && self.last_arrived {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        self.last_arrived = false;
        let in_flight = in_flight as u64;
        if let Some(last) = self.departures.back_mut().filter(|last| last.at == now) {
            last.in_flight = in_flight;
            return;
        }
        if self.departures.len() == MOST {
            self.departures.pop_front();
        }
        self.departures.push_back(Departure {
            at: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            in_flight,
            app_limited: self.app_limited_until > 0,
        });
    }

    /// So many bytes have been acknowledged, the youngest of which left at `newest`, if that is known. No round trip is shorter than
    /// `least`. `None` if nothing is known of that departure.
    pub fn on_acked(
        &mut self,
        now: Instant,
        bytes: usize,
        newest: Option<Instant>,
        least: Duration,
    ) -> Option<RateSample> {
        self.delivered += bytes as u64;
        self.delivered_at = now;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let departure = self.departure(newest?)?;
        self.last_arrived |= self.departures.back().is_some_and(|last| last.at == departure.at);
        self.first_sent = departure.at;
        self.forget_before(departure.at - now.saturating_since(departure.at));
        let sending = departure.at.saturating_since(departure.first_sent);
        let interval = sending.max(now.saturating_since(departure.delivered_at));
        let delivered = self.delivered - departure.delivered;
        Some(RateSample {
            rate: (interval >= least && departure.delivered >= self.distrusted_until)
                .then(|| rate(delivered, interval))
                .flatten(),
            delivered,
            prior_delivered: departure.delivered,
            in_flight: departure.in_flight,
            lost: self.lost - departure.lost,
            app_limited: departure.app_limited,
        })
    }

    /// So many bytes are lost, the youngest of which left at `newest`. `None` if nothing is known of that departure.
    pub fn on_lost(&mut self, bytes: usize, newest: Instant) -> Option<LossSample> {
        self.lost += bytes as u64;
        let Departure { in_flight, lost, app_limited, .. } = self.departure(newest)?;
        Some(LossSample { in_flight, lost: self.lost - lost, app_limited })
    }

    /// What is in flight, and what leaves until it is acknowledged, says nothing about how fast the path is.
    pub fn limit(&mut self, in_flight: usize) {
        self.app_limited_until = (self.delivered + in_flight as u64).max(1);
    }

    /// So many bytes in flight had been taken for lost and were late: an acknowledgement may have been for what was sent again, or for what was
    /// late, so that nobody knows when what they delivered left, and what arrives with them did not leave with them.
    pub const fn distrust(&mut self, in_flight: u64) {
        self.distrusted_until = self.delivered + in_flight;
    }

    /// Bytes delivered so far.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether what leaves now says nothing about how fast the path is.
    pub const fn is_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    fn departure(&self, at: Instant) -> Option<Departure> {
        let index = self.departures.partition_point(|departure| departure.at < at);
        self.departures.get(index).copied().filter(|departure| departure.at == at)
    }

    /// Losses are known, and what was overtaken arrives, within a round trip.
    fn forget_before(&mut self, at: Instant) {
        while self.departures.front().is_some_and(|departure| departure.at < at) {
            self.departures.pop_front();
        }
    }
}

impl Default for DeliveryRate {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes a second; `None` where no time has passed.
pub(crate) fn rate(bytes: u64, time: Duration) -> Option<u64> {
    let nanos = time.as_nanos();
    let rate = (u128::from(bytes) * 1_000_000_000).checked_div(nanos)?;
    u64::try_from(rate).ok()
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
