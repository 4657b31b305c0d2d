use core::time::Duration;
use std::sync::Arc;

use super::{
    Acked, CongestionControl, CongestionPhase, ControllerFactory, Lost, NewPath, Pacing, Sent, Shared,
    smoothed,
};

/// A controller whose window leaves evenly spread over a round trip: twice as fast in slow start, so that the window can double, and
/// by a fifth faster behind it, so that it is used up.
#[derive(Debug)]
pub struct Paced {
    inner: Box<dyn CongestionControl>,
    pmdcs: usize,
    /// Smoothed.
    round_trip: Option<Duration>,
}

/// Makes [`Paced`] controllers.
#[derive(Clone, Debug)]
pub struct PacedParameters {
    /// Makes the controllers that do the rest.
    pub inner: Arc<dyn ControllerFactory>,
}

impl PacedParameters {
    /// Of controllers that `inner` makes.
    pub fn around(inner: impl ControllerFactory + 'static) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl ControllerFactory for PacedParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Paced { inner: self.inner.controller(path), pmdcs: path.pmdcs, round_trip: None })
    }

    fn validate(&self) -> Result<(), &'static str> {
        self.inner.validate()
    }

    fn has_threshold(&self) -> bool {
        self.inner.has_threshold()
    }
}

impl CongestionControl for Paced {
    fn cwnd(&self) -> usize {
        self.inner.cwnd()
    }

    fn ssthresh(&self) -> usize {
        self.inner.ssthresh()
    }

    fn on_acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.round_trip = Some(smoothed(self.round_trip, rtt));
        }
        self.inner.on_acked(acked);
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
        self.pmdcs = pmdcs;
        self.inner.on_packet_size(pmdcs);
    }

    fn install(&mut self, cwnd: usize, ssthresh: usize) {
        // What was measured may have been another network.
        self.round_trip = None;
        self.inner.install(cwnd, ssthresh);
    }

    fn undo(&mut self, cwnd: usize, ssthresh: usize) {
        self.inner.undo(cwnd, ssthresh);
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

    fn pacing(&self) -> Option<Pacing> {
        let nanos = self.round_trip?.as_nanos().max(1);
        let percent = if self.inner.cwnd() <= self.inner.ssthresh() { 200 } else { 120 };
        let rate = self.inner.cwnd() as u128 * 10_000_000 * percent / nanos;
        Some(Pacing::at(u64::try_from(rate).unwrap_or(u64::MAX), self.pmdcs))
    }

    fn phase(&self) -> CongestionPhase {
        self.inner.phase()
    }
}

#[cfg(test)]
#[path = "paced_tests.rs"]
mod tests;
