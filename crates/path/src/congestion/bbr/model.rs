//! What is known of the path (Updating Network Path Model Parameters).

use core::time::Duration;

use whimbrel_machine::Instant;

use super::{Ack, Bbr, State};
use crate::congestion::Lost;

/// BBR.Beta in percent.
pub(super) const BETA: u64 = 70;
/// BBR.MinRTTFilterLen.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// Packet-timed round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// BBR.round_start: the present SACK begins one.
    pub(super) starts: bool,
    pub(super) count: u64,
    next_delivered: u64,
}

/// The largest delivery rate of this cycle of probing and the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    previous: u64,
    present: u64,
}

impl MaxBandwidth {
    pub(super) fn get(self) -> u64 {
        self.previous.max(self.present)
    }

    /// AdvanceMaxBwFilter; a cycle without any sample says nothing.
    pub(super) fn advance(&mut self) {
        if self.present > 0 {
            (self.previous, self.present) = (self.present, 0);
        }
    }
}

/// The least round-trip time, and when it has to be looked for again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    least: Option<(Duration, Instant)>,
    /// BBR.probe_rtt_min_delay and its time.
    pub(super) lately: Option<(Duration, Instant)>,
    /// BBR.probe_rtt_expired.
    pub(super) expired: bool,
}

impl MinRtt {
    /// That of a path which has just been measured.
    pub(super) fn measured(round_trip: Duration, now: Instant) -> Self {
        Self { least: Some((round_trip, now)), lately: Some((round_trip, now)), expired: false }
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.least.map(|(least, _)| least)
    }
}

/// What the latest round trip has delivered, and whether something was lost in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    bandwidth: u64,
    pub(super) in_flight: u64,
    loss_round_delivered: u64,
    pub(super) round_starts: bool,
    lossy: bool,
    /// Its least round-trip time.
    pub(super) least_rtt: Option<Duration>,
    /// SACKs that told of losses in this round trip.
    pub(super) losses: u32,
}

/// What losses of the present cycle have shown to be safe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bandwidth: u64,
    pub(super) in_flight: u64,
}

impl Bounds {
    pub(super) const NONE: Self = Self { bandwidth: u64::MAX, in_flight: u64::MAX };
}

/// What was so before a loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) state: Option<State>,
    pub(super) short_term: Bounds,
    pub(super) long_term: u64,
}

impl Default for Undo {
    fn default() -> Self {
        Self { state: None, short_term: Bounds::NONE, long_term: u64::MAX }
    }
}

impl Bbr {
    /// StartRound.
    pub(super) fn start_round(&mut self) {
        self.round.next_delivered = self.delivery.delivered();
    }

    /// UpdateLatestDeliverySignals.
    pub(super) fn update_latest(&mut self, ack: &Ack) {
        self.latest.round_starts = false;
        self.latest.bandwidth = self.latest.bandwidth.max(ack.rate());
        self.latest.in_flight = self.latest.in_flight.max(ack.sample.delivered);
        self.latest.least_rtt = [self.latest.least_rtt, ack.rtt].into_iter().flatten().min();
        if ack.sampled && ack.sample.prior_delivered >= self.latest.loss_round_delivered {
            self.latest.loss_round_delivered = self.delivery.delivered();
            self.latest.round_starts = true;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest(&mut self, ack: &Ack) {
        if self.latest.round_starts {
            self.latest.bandwidth = ack.rate();
            self.latest.in_flight = ack.sample.delivered;
            self.latest.losses = 0;
            self.latest.least_rtt = ack.rtt;
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.latest.lossy = false;
        self.latest.bandwidth = 0;
        self.latest.in_flight = 0;
    }

    /// UpdateCongestionSignals and UpdateMaxBw.
    pub(super) fn update_congestion(&mut self, ack: &Ack) {
        self.update_round(ack);
        let rate = ack.rate();
        if rate > 0 && (rate >= self.max_bandwidth.get() || !ack.sample.app_limited) {
            self.max_bandwidth.present = self.max_bandwidth.present.max(rate);
        }
        if self.latest.round_starts {
            self.adapt_short_term();
            self.latest.lossy = false;
        }
    }

    fn update_round(&mut self, ack: &Ack) {
        self.round.starts = ack.sampled && ack.sample.prior_delivered >= self.round.next_delivered;
        if self.round.starts {
            self.start_round();
            self.round.count += 1;
            self.cycle.rounds_since_up += 1;
        }
    }

    /// AdaptLowerBoundsFromCongestion.
    fn adapt_short_term(&mut self) {
        if self.state.accelerates() || !self.latest.lossy {
            return;
        }
        if self.losses_are_steady() || self.losses_are_slight() {
            self.short_term = Bounds::NONE;
            return;
        }
        if self.short_term.bandwidth == u64::MAX {
            self.short_term.bandwidth = self.max_bandwidth.get();
        }
        if self.short_term.in_flight == u64::MAX {
            self.short_term.in_flight = self.cwnd;
        }
        let after = |bound: u64, latest: u64| latest.max(bound / 100 * BETA);
        self.short_term.bandwidth = after(self.short_term.bandwidth, self.latest.bandwidth);
        self.short_term.in_flight = after(self.short_term.in_flight, self.latest.in_flight);
    }

    /// NoteLoss.
    pub(super) fn note_loss(&mut self) {
        if !self.latest.lossy {
            self.latest.loss_round_delivered = self.delivery.delivered();
            self.save();
        }
        self.latest.lossy = true;
    }

    /// HandleLostPacket, for all that a SACK shows to be lost.
    pub(super) fn handle_lost(&mut self, lost: &Lost) {
        let sample = self.delivery.on_lost(lost.bytes, lost.newest_sent);
        self.count_lost(lost.now, lost.bytes, sample.as_ref());
        self.note_loss();
        self.latest.losses += 1;
        let Some(sample) = sample.filter(|_| self.cycle.is_probe_sample) else { return };
        if self.is_too_high(sample.lost, sample.in_flight) {
            let safe = self.in_flight_at_loss(sample.in_flight, sample.lost, lost.bytes as u64);
            self.handle_too_high(lost.now, safe, sample.app_limited);
        }
    }

    /// IsInflightTooHigh.
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u64) -> bool {
        lost > in_flight * self.loss_threshold() / 100
    }

    /// InflightAtLoss: where within the last `size` bytes the losses crossed the threshold.
    pub(super) fn in_flight_at_loss(&self, in_flight: u64, lost: u64, size: u64) -> u64 {
        let threshold = self.loss_threshold();
        let (before, lost_before) = (in_flight.saturating_sub(size), lost.saturating_sub(size));
        let prefix = (before * threshold).saturating_sub(lost_before * 100) / (100 - threshold);
        before + prefix
    }

    /// HandleSpuriousLossDetection.
    pub(super) fn undo_loss(&mut self) {
        let Undo { state, short_term, long_term } = core::mem::take(&mut self.undo);
        self.restore_cwnd();
        self.recovering = None;
        self.latest.lossy = false;
        self.full.reset();
        self.short_term.bandwidth = self.short_term.bandwidth.max(short_term.bandwidth);
        self.short_term.in_flight = self.short_term.in_flight.max(short_term.in_flight);
        self.in_flight_long_term = self.in_flight_long_term.max(long_term);
        match state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }

    /// UpdateMinRTT. Where the user has less to send than the path carries there is no queue of its own for ProbeRTT to empty, and what it would hold
    /// back for that is late for nothing (100 ms in each 5 s of a call): every round trip is as good a measure.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let now = ack.now;
        let past = |at: Instant, interval: Duration| now.saturating_since(at) > interval;
        let interval = self.parameters.probe_rtt_interval;
        let user_limited = self.is_user_limited(ack.sample.app_limited);
        let MinRtt { least, lately, expired } = &mut self.min_rtt;
        let is_old = lately.is_some_and(|(_, at)| past(at, interval));
        *expired = is_old && !user_limited;
        if let Some(rtt) = ack.rtt
            && (is_old || lately.is_none_or(|(lately, _)| rtt < lately))
        {
            *lately = Some((rtt, now));
        }
        if let Some((rtt, at)) = *lately
            && least.is_none_or(|(least, since)| rtt < least || past(since, MIN_RTT_WINDOW))
        {
            *least = Some((rtt, at));
        }
    }
}
