//! BBR.extra_acked: how much more is acknowledged at once than the rate says, since networks and receivers gather packets.

use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::control::amount;
use super::{Ack, Bbr};

/// BBR.ExtraAckedFilterLen, in round trips.
const WINDOW: u64 = 10;

/// The excess, and how it is measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// BBR.extra_acked_interval_start.
    since: Instant,
    /// BBR.extra_acked_delivered.
    delivered: u64,
    /// Maxima that may come to count, each with its round trip: later ones are smaller.
    maxima: VecDeque<(u64, u64)>,
}

impl Aggregation {
    /// BBR.extra_acked.
    pub(super) fn extra(&self) -> u64 {
        self.maxima.front().map_or(0, |&(_, extra)| extra)
    }

    pub(super) fn restart(&mut self, now: Instant) {
        self.since = now;
    }

    fn note(&mut self, round: u64, extra: u64, window: u64) {
        while self.maxima.back().is_some_and(|&(_, smaller)| smaller <= extra) {
            self.maxima.pop_back();
        }
        self.maxima.push_back((round, extra));
        while self.maxima.front().is_some_and(|&(old, _)| old + window <= round) {
            self.maxima.pop_front();
        }
    }
}

impl Bbr {
    /// UpdateACKAggregation.
    pub(super) fn update_aggregation(&mut self, ack: &Ack) {
        let mut expected = amount(self.bandwidth, ack.now.saturating_since(self.aggregation.since));
        if self.aggregation.delivered <= expected {
            self.aggregation.delivered = 0;
            self.aggregation.since = ack.now;
            expected = 0;
        }
        self.aggregation.delivered += ack.bytes;
        let extra = (self.aggregation.delivered - expected).min(self.cwnd);
        let window = if self.full.reached { WINDOW } else { 1 };
        self.aggregation.note(self.round.count, extra, window);
    }
}
