//! What follows from the model: the pacing rate and the window (Updating Control Parameters).

use core::time::Duration;

use super::{Ack, Bbr, State};
use crate::congestion::LARGEST_WINDOW;
use crate::delivery;
use crate::pacing::Pacing;

/// 100 − BBR.PacingMarginPercent.
const PACED: u64 = 99;
/// BBR.MinPipeCwnd in packets.
const LEAST_PACKETS: u64 = 4;
/// Trains in flight at least: one that leaves, one on its way, one that arrives (Offload Budget).
const TRAINS: u64 = 3;

/// Bytes that so many bytes a second make in this time.
pub(super) fn amount(rate: u64, time: Duration) -> u64 {
    let bytes = u128::from(rate) * time.as_nanos() / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX).min(LARGEST_WINDOW as u64)
}

/// Round trips that the least pace goes by are no longer than this, and no shorter.
const LONGEST_TRUSTED: Duration = Duration::from_secs(1);
const SHORTEST_TRUSTED: Duration = Duration::from_millis(10);

impl Bbr {
    /// UpdateControlParameters.
    pub(super) fn update_control(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|_| self.pacing_rate == 0) {
            self.begin_pacing(rtt);
        }
        self.set_pacing_rate(self.state.pacing_gain());
        self.end_recovery(ack);
        self.set_cwnd(ack);
        self.update_room(ack);
    }

    /// InitPacingRate, as soon as a round trip is known.
    pub(super) fn begin_pacing(&mut self, rtt: Duration) {
        self.pacing_rate = self.pace_of(self.cwnd, rtt);
    }

    /// The pace at which Startup begins with a window of `cwnd`.
    pub(super) fn pace_of(&self, cwnd: u64, rtt: Duration) -> u64 {
        let nominal = u128::from(cwnd) * 1_000_000_000 / rtt.as_nanos().max(1);
        let nominal = u64::try_from(nominal).unwrap_or(u64::MAX) / 100;
        let rate = nominal.saturating_mul(State::Startup.pacing_gain());
        rate.max(self.least_pace(Some(rtt)))
    }

    /// The least window in each round trip: what may be in flight in any case. After an outage the only sample may be of a packet that took minutes. At
    /// its rate a packet would leave each minute, and nothing better would be measured. Nor would it where a shorter round trip is known by a HEARTBEAT
    /// alone, because all that is in flight is sent again.
    fn least_pace(&self, round_trip: Option<Duration>) -> u64 {
        let round_trip = round_trip.into_iter().chain(self.answer).min();
        let round_trip = round_trip.unwrap_or(LONGEST_TRUSTED).clamp(SHORTEST_TRUSTED, LONGEST_TRUSTED);
        delivery::rate(self.least_window(), round_trip).unwrap_or(u64::MAX)
    }

    /// SetPacingRateWithGain, in percent.
    pub(super) fn set_pacing_rate(&mut self, gain: u64) {
        let rate = u128::from(self.bandwidth) * u128::from(gain * PACED) / 10_000;
        let measured = u64::try_from(rate).unwrap_or(u64::MAX);
        let rate = measured.max(self.least_pace(self.min_rtt.get()));
        if measured > 0 && self.pacing_rate > 0 && (self.full.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BDPMultiple, in percent.
    pub(super) fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        match self.min_rtt.get() {
            None => self.path.initial_cwnd() as u64,
            Some(min_rtt) => amount(bandwidth, min_rtt).saturating_mul(gain) / 100,
        }
    }

    /// BBR.MinPipeCwnd.
    pub(super) fn least_window(&self) -> u64 {
        LEAST_PACKETS * self.mss()
    }

    /// QuantizationBudget.
    fn quantized(&self, in_flight: u64) -> u64 {
        let train = Pacing::at(self.pacing_rate, self.path.pmdcs).quantum as u64;
        let more = if self.state == State::Up { 2 * self.mss() } else { 0 };
        in_flight.max(TRAINS * train).max(self.least_window()) + more
    }

    /// Inflight.
    pub(super) fn in_flight_for(&self, bandwidth: u64, gain: u64) -> u64 {
        self.quantized(self.bdp(bandwidth, gain))
    }

    /// TargetInflight.
    pub(super) fn target_in_flight(&self) -> u64 {
        self.bdp(self.bandwidth, 100).min(self.cwnd)
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.bdp(self.bandwidth, State::ProbeRtt.cwnd_gain()).max(self.least_window())
    }

    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        let lowered = self.recovering.is_some() || self.state == State::ProbeRtt;
        self.prior_cwnd = if lowered { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// RestoreCwnd.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn end_recovery(&mut self, ack: &Ack) {
        let delivered = self.delivery.delivered();
        if !ack.in_fast_recovery && self.recovering.take_if(|until| delivered >= *until).is_some() {
            self.restore_cwnd();
        }
    }

    /// SetCwnd.
    fn set_cwnd(&mut self, ack: &Ack) {
        let most = self.bdp(self.bandwidth, self.state.cwnd_gain());
        let most = self.quantized(most.saturating_add(self.aggregation.extra()));
        let grown = self.cwnd.saturating_add(ack.bytes);
        if self.full.reached {
            self.cwnd = grown.min(most);
        } else if self.cwnd < most || self.delivery.delivered() < self.path.initial_cwnd() as u64 {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.least_window());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        self.cwnd = self.cwnd.min(self.bound()).min(LARGEST_WINDOW as u64);
    }

    /// BoundCwndForModel.
    fn bound(&self) -> u64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.in_flight_long_term,
            State::ProbeRtt | State::Cruise => self.in_flight_with_headroom(),
            State::Startup | State::Drain => u64::MAX,
        };
        long_term.min(self.short_term.in_flight).max(self.least_window())
    }
}
