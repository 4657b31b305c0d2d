//! ProbeRTT, and what is left of it when idle.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::model::Bounds;
use super::{Ack, Bbr, State};

/// BBR.ProbeRTTDuration.
const DURATION: Duration = Duration::from_millis(200);

/// How far it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// BBR.probe_rtt_done_stamp.
    done_at: Option<Instant>,
    /// BBR.probe_rtt_round_done.
    round_done: bool,
}

impl Bbr {
    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt.done_at = None;
            self.cycle.expect_stop();
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        if ack.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, ack: &Ack) {
        // Rates are low now, and say nothing.
        self.delivery.limit(ack.in_flight as usize);
        if self.probe_rtt.done_at.is_some() {
            self.probe_rtt.round_done |= self.round.starts;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(ack.now);
            }
        } else if ack.in_flight <= self.probe_rtt_window() {
            self.probe_rtt = ProbeRtt { done_at: Some(ack.now + DURATION), round_done: false };
            self.start_round();
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt.done_at.is_none_or(|at| now <= at) {
            return;
        }
        if let Some((_, at)) = &mut self.min_rtt.lately {
            *at = now;
        }
        self.restore_cwnd();
        self.short_term = Bounds::NONE;
        if self.full.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }

    /// HandleRestartFromIdle.
    pub(super) fn restart_from_idle(&mut self, now: Instant) {
        self.idle_restart = true;
        // A HEARTBEAT of before says nothing of the path as it is now.
        self.round_trips.answer = None;
        self.aggregation.restart(now);
        if self.state.probes_bandwidth() {
            self.set_pacing_rate(100);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}
