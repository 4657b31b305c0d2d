use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::Instant;

use super::{
    Acked, CongestionControl, CongestionPhase, ControllerFactory, LARGEST_WINDOW, Lost, NewPath, Pacing,
    Sent, Shared,
};

/// MIN_RTT_THRESH (RFC 9406 §4.3).
const LEAST_RISE: Duration = Duration::from_millis(4);
/// MAX_RTT_THRESH.
const LARGEST_RISE: Duration = Duration::from_millis(16);
/// MIN_RTT_DIVISOR.
const RISE_DIVISOR: u32 = 8;
/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR.
const GROWTH_DIVISOR: usize = 4;
/// CSS_ROUNDS.
const CONSERVATIVE_ROUNDS: u32 = 5;

/// A controller with slow start, [`Reno`](super::Reno) or [`Cubic`](super::Cubic), whose first slow start ends when the round-trip time
/// rises, before the queue at the bottleneck overflows (HyStart++, RFC 9406).
///
/// A host that moves begins with slow start in each network it comes to, and its windows are large enough for the fastest of
/// them: without this, each move ends in the loss of up to half a window.
///
/// Each SACK brings one measurement, of the youngest chunk it acknowledges. A round ends when something that was sent after
/// it began is acknowledged, which is what the RFC's window end says in other words. L is the path's own (RFC 9260 §7.2.1).
/// It is for ssthresh at its initial value (RFC 9406 §4.3): later slow starts end at the ssthresh that was found.
#[derive(Debug)]
pub struct HyStart {
    inner: Box<dyn CongestionControl>,
    rounds: Rounds,
}

/// What has been measured.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    began: Option<Instant>,
    last_round: Option<Duration>,
    this_round: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Makes [`HyStart`] controllers.
#[derive(Clone, Debug)]
pub struct HyStartParameters {
    /// Makes the controllers that do the rest. L is 8 in RFC 9406 §4.3, for senders that do not pace.
    pub inner: Arc<dyn ControllerFactory>,
}

impl HyStartParameters {
    /// Of controllers that `inner` makes.
    pub fn around(inner: impl ControllerFactory + 'static) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl ControllerFactory for HyStartParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(HyStart::new(self.inner.controller(path)))
    }

    fn validate(&self) -> Result<(), &'static str> {
        self.inner.validate()
    }

    fn has_threshold(&self) -> bool {
        self.inner.has_threshold()
    }
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Duration,
    rounds: u32,
}

impl HyStart {
    /// Makes `inner` leave its first slow start in time.
    pub fn new(inner: Box<dyn CongestionControl>) -> Self {
        Self { inner, rounds: Rounds::default() }
    }

    /// Whether the window is in the slow start that nothing has limited yet.
    fn first_slow_start(&self) -> bool {
        self.inner.ssthresh() == LARGEST_WINDOW
    }
}

impl Rounds {
    /// Whether slow start is over.
    fn note(&mut self, now: Instant, rtt: Duration) -> bool {
        let over = self.measured(now, rtt);
        self.judge();
        over
    }

    /// Ends a round if it is over, and notes the measurement (RFC 9406 §4.2).
    fn measured(&mut self, now: Instant, rtt: Duration) -> bool {
        let mut over = false;
        if self.began.is_none_or(|began| now.saturating_since(began) >= rtt) {
            if self.began.is_some() {
                over = self.round_is_over();
            }
            self.began = Some(now);
            self.last_round = self.this_round.take();
            self.samples = 0;
        }
        self.this_round = Some(self.this_round.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        over
    }

    /// CSS lasts at most CSS_ROUNDS rounds, the one in which it began included.
    fn round_is_over(&mut self) -> bool {
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        let over = conservative.rounds >= CONSERVATIVE_ROUNDS;
        if over {
            self.conservative = None;
        }
        over
    }

    /// Into conservative slow start, or back where the rise was no queue's.
    fn judge(&mut self) {
        let Some(least) = self.this_round.filter(|_| self.samples >= SAMPLES) else { return };
        match (self.conservative, self.last_round) {
            (Some(conservative), _) if least < conservative.baseline => self.conservative = None,
            (None, Some(last)) => {
                let rise = (last / RISE_DIVISOR).min(LARGEST_RISE).max(LEAST_RISE);
                if least >= last.saturating_add(rise) {
                    self.conservative = Some(Conservative { baseline: least, rounds: 0 });
                }
            }
            _ => {}
        }
    }
}

impl CongestionControl for HyStart {
    fn cwnd(&self) -> usize {
        self.inner.cwnd()
    }

    fn ssthresh(&self) -> usize {
        self.inner.ssthresh()
    }

    fn on_acked(&mut self, acked: &Acked) {
        let rtt = acked.rtt.filter(|_| self.first_slow_start());
        if rtt.is_some_and(|rtt| self.rounds.note(acked.now, rtt)) {
            let cwnd = self.inner.cwnd();
            self.inner.install(cwnd, cwnd);
        }
        let mut acked = *acked;
        if self.rounds.conservative.is_some() && self.first_slow_start() {
            acked.bytes = acked.bytes.min(self.inner.most_per_sack()) / GROWTH_DIVISOR;
        }
        self.inner.on_acked(&acked);
    }

    fn on_fast_retransmit(&mut self) {
        self.inner.on_fast_retransmit();
    }

    fn on_timeout(&mut self) {
        self.inner.on_timeout();
    }

    fn on_idle_period(&mut self) {
        self.inner.on_idle_period();
    }

    fn on_packet_size(&mut self, pmdcs: usize) {
        self.inner.on_packet_size(pmdcs);
    }

    fn install(&mut self, cwnd: usize, ssthresh: usize) {
        // What was measured may have been another network.
        self.inner.install(cwnd, ssthresh);
        self.rounds = Rounds::default();
    }

    fn undo(&mut self, cwnd: usize, ssthresh: usize) {
        // What was measured while a timer had to be waited for is no measure of a queue.
        self.inner.undo(cwnd, ssthresh);
        self.rounds = Rounds::default();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.inner.on_sent(sent);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.inner.on_lost(lost);
    }

    fn learnt_cwnd(&self) -> usize {
        self.inner.learnt_cwnd()
    }

    fn on_app_limited(&mut self, in_flight: usize) {
        self.inner.on_app_limited(in_flight);
    }

    fn pacing(&self) -> Option<Pacing> {
        self.inner.pacing()
    }

    fn on_shared(&mut self, shared: &Shared<'_>) {
        self.inner.on_shared(shared);
    }

    fn between_losses(&self) -> u64 {
        self.inner.between_losses()
    }

    fn bandwidth(&self) -> Option<u64> {
        self.inner.bandwidth()
    }

    fn most_per_sack(&self) -> usize {
        self.inner.most_per_sack()
    }

    fn phase(&self) -> CongestionPhase {
        let conservative = self.rounds.conservative.is_some() && self.first_slow_start();
        if conservative { CongestionPhase::ConservativeSlowStart } else { self.inner.phase() }
    }
}

#[cfg(test)]
#[path = "hystart_tests.rs"]
mod tests;
