//! Startup and Drain.

use super::{Ack, Bbr, State};

/// BBRStartupFullLossCnt.
const LOSSES: u32 = 6;
/// Round trips without much growth after which the path is full.
const ROUNDS: u32 = 3;
/// Round trips in Drain at most.
const DRAIN_ROUNDS: u64 = 3;

/// Whether the path delivers any more than it does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// BBR.full_bw_reached.
    pub(super) reached: bool,
    /// BBR.full_bw_now.
    pub(super) now: bool,
    baseline: u64,
    count: u32,
    drain_began: u64,
}

impl FullBandwidth {
    /// ResetFullBW.
    pub(super) fn reset(&mut self) {
        self.begin(0);
    }

    /// Looks for more than `baseline`.
    pub(super) fn begin(&mut self, baseline: u64) {
        (self.baseline, self.count, self.now) = (baseline, 0, false);
    }
}

impl Bbr {
    /// CheckFullBWReached.
    pub(super) fn check_full_bandwidth(&mut self, ack: &Ack) {
        if self.full.now || !self.round.starts || ack.sample.app_limited {
            return;
        }
        let rate = ack.rate();
        if rate >= self.full.baseline.saturating_add(self.full.baseline / 4) {
            self.full.begin(rate);
            return;
        }
        self.full.count += 1;
        self.full.now = self.full.count >= ROUNDS;
        self.full.reached |= self.full.now;
    }

    /// CheckStartupDone.
    pub(super) fn check_startup_done(&mut self, ack: &Ack) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_losses(ack);
        if self.full.reached {
            self.state = State::Drain;
            self.full.drain_began = self.round.count;
        }
    }

    /// CheckStartupHighLoss.
    fn check_startup_losses(&mut self, ack: &Ack) {
        let a_round_of_recovery = self.latest.round_starts && ack.in_fast_recovery;
        if self.full.reached || !a_round_of_recovery || self.latest.losses < LOSSES {
            return;
        }
        if self.is_too_high(ack.sample.lost, ack.sample.in_flight) {
            self.undo.state = Some(State::Startup);
            self.full.reached = true;
            self.in_flight_long_term = self.bdp(self.max_bandwidth.get(), 100).max(self.latest.in_flight);
        }
    }

    /// CheckDrainDone.
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let empty = ack.in_flight <= self.in_flight_for(self.bandwidth, 100);
        if self.state == State::Drain && (empty || self.round.count > self.full.drain_began + DRAIN_ROUNDS) {
            self.start_down(ack.now);
        }
    }
}
