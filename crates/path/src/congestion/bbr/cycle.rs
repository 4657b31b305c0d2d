//! ProbeBW: down, cruise, refill, up.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::model::{BETA, Bounds};
use super::{Ack, Bbr, State};

/// Looking for more comes after this and up to a second more.
const WAIT: Duration = Duration::from_secs(2);
/// Round trips after which Reno would have lost something, at most (IsRenoCoexistenceProbeTime).
const RENO_ROUNDS: u64 = 63;
/// BBR.Headroom in percent.
const HEADROOM: u64 = 15;

/// BBR.ack_phase: what SACKs tell of the last look for more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Feedback {
    /// ACKS_INIT.
    #[default]
    None,
    /// ACKS_REFILLING.
    Refilling,
    /// ACKS_PROBE_STARTING.
    Starting,
    /// ACKS_PROBE_FEEDBACK.
    Coming,
    /// ACKS_PROBE_STOPPING.
    Stopping,
}

/// Where the cycle is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    feedback: Feedback,
    /// BBR.cycle_stamp.
    began: Instant,
    /// BBR.bw_probe_wait.
    wait: Duration,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds_since_up: u64,
    /// BBR.is_bw_probe_sample.
    pub(super) is_probe_sample: bool,
    /// BBR.prev_probe_too_high.
    too_high: bool,
    /// BBR.prev_probe_precautionary.
    precautionary: bool,
    /// BBR.bw_probe_up_acked.
    up_acked: u64,
    /// BBR.probe_up_acked_per_inc; 0 while nothing is looked for.
    up_acked_per_packet: u64,
    /// BBR.bw_probe_up_rounds.
    up_rounds: u32,
}

impl Cycle {
    pub(super) fn expect_stop(&mut self) {
        self.feedback = Feedback::Stopping;
    }
}

impl Bbr {
    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.reset_congestion_signals();
        let cycle = &mut self.cycle;
        cycle.up_acked_per_packet = 0;
        cycle.rounds_since_up = self.rng.below(2);
        cycle.wait = WAIT + self.rng.duration_below(Duration::from_secs(1));
        cycle.began = now;
        cycle.feedback = Feedback::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self) {
        self.short_term = Bounds::NONE;
        let cycle = &mut self.cycle;
        (cycle.up_rounds, cycle.up_acked, cycle.precautionary) = (0, 0, false);
        cycle.feedback = Feedback::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, ack: &Ack) {
        self.cycle.feedback = Feedback::Starting;
        self.start_round();
        self.full.begin(ack.rate());
        self.state = State::Up;
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if !self.full.reached || self.adapt_long_term(ack) {
            return;
        }
        let goes_down = self.state == State::Up && self.is_time_to_go_down(ack);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.round.starts => {
                self.cycle.is_probe_sample = true;
                self.start_up(ack);
            }
            State::Up if goes_down => {
                self.cycle.too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let reno_rounds = (self.target_in_flight() / self.mss().max(1)).min(RENO_ROUNDS);
        now > self.cycle.began + self.cycle.wait || self.cycle.rounds_since_up >= reno_rounds
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        ack.in_flight <= self.in_flight_with_headroom()
            && ack.in_flight <= self.in_flight_for(self.max_bandwidth.get(), 100)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        if self.cycle.too_high && ack.in_flight >= self.in_flight_long_term {
            self.cycle.precautionary = true;
            return true;
        }
        if ack.window_limited && self.cwnd >= self.in_flight_long_term {
            // It is the bound that limits the rate.
            self.full.begin(ack.rate());
            return false;
        }
        self.full.now
    }

    /// InflightWithHeadroom.
    pub(super) fn in_flight_with_headroom(&self) -> u64 {
        if self.in_flight_long_term == u64::MAX {
            return u64::MAX;
        }
        let headroom = (self.in_flight_long_term / 100 * HEADROOM).max(self.mss());
        self.in_flight_long_term.saturating_sub(headroom).max(self.least_window())
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self) {
        let growth = 1_u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.up_acked_per_packet = (self.cwnd / growth).max(self.mss());
    }

    /// ProbeInflightLongtermUpward.
    fn raise_long_term(&mut self, ack: &Ack) {
        if !ack.window_limited || self.cwnd < self.in_flight_long_term || self.cycle.up_acked_per_packet == 0
        {
            return;
        }
        self.cycle.up_acked += ack.bytes;
        let packets = self.cycle.up_acked / self.cycle.up_acked_per_packet;
        self.cycle.up_acked %= self.cycle.up_acked_per_packet;
        self.in_flight_long_term = self.in_flight_long_term.saturating_add(packets * self.mss());
        if self.round.starts {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel; whether it has changed the state.
    fn adapt_long_term(&mut self, ack: &Ack) -> bool {
        if self.cycle.feedback == Feedback::Starting && self.round.starts {
            self.cycle.feedback = Feedback::Coming;
        }
        if self.cycle.feedback == Feedback::Stopping && self.round.starts {
            self.cycle.is_probe_sample = false;
            self.cycle.feedback = Feedback::None;
            if self.state.probes_bandwidth() {
                if !ack.sample.app_limited {
                    self.max_bandwidth.advance();
                }
                if self.cycle.precautionary && !self.cycle.too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        let bounded = self.in_flight_long_term != u64::MAX;
        if bounded && ack.sampled && !self.is_too_high(ack.sample.lost, ack.sample.in_flight) {
            self.in_flight_long_term = self.in_flight_long_term.max(ack.sample.in_flight);
            if self.state == State::Up {
                self.raise_long_term(ack);
            }
        }
        false
    }

    /// HandleInflightTooHigh.
    pub(super) fn handle_too_high(&mut self, now: Instant, safe: u64, app_limited: bool) {
        self.cycle.too_high = true;
        // Once for each look for more.
        self.cycle.is_probe_sample = false;
        if !app_limited {
            self.in_flight_long_term = safe.max(self.target_in_flight() / 100 * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }
}
