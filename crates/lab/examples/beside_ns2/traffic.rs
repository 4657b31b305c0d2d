//! Sources as ns-2's SCTP agent has them.

use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_lab::testbed::traffic::Traffic;
use whimbrel_machine::Instant;

/// Messages of one size at even intervals, as the agent of ns-2 sends them: they are due from the start of the source on,
/// association or not; the first ones leave when all paths are confirmed, later ones only when a SACK comes. What is due then
/// goes out bundled; what becomes due afterwards waits for the next SACK.
pub(crate) struct OnSack {
    size: usize,
    interval: Duration,
    next: Instant,
    /// How long it takes to confirm all paths once the association is up.
    confirming: Duration,
    /// When they are confirmed, and whether that has been so.
    confirmed: Option<(Instant, bool)>,
    waiting: VecDeque<usize>,
    /// How many messages go with one SACK.
    at_once: usize,
}

impl OnSack {
    pub(crate) fn new(
        size: usize,
        rate_bps: f64,
        start: Instant,
        confirming: Duration,
        at_once: usize,
    ) -> Self {
        let interval = Duration::from_secs_f64(size as f64 * 8.0 / rate_bps);
        Self { size, interval, next: start, confirming, confirmed: None, waiting: VecDeque::new(), at_once }
    }
}

impl Traffic for OnSack {
    fn offer(&mut self, now: Instant, acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        let Some((confirmed_at, begun)) = self.confirmed else {
            let at = now + self.confirming;
            self.confirmed = Some((at, false));
            return Some(at);
        };
        let before = self.next;
        while self.next <= now {
            self.waiting.push_back(self.size);
            self.next += self.interval;
        }
        let begins = !begun && now >= confirmed_at;
        self.confirmed = Some((confirmed_at, begun || begins));
        let now_at_once = match (begins, acknowledged > 0) {
            (true, _) => self.at_once.saturating_mul(3),
            (false, true) => self.at_once,
            (false, false) => 0,
        };
        self.waiting.drain(..now_at_once.min(self.waiting.len())).for_each(send);
        // Asked between two messages it has named its next time already.
        (begins || self.next != before).then_some(self.next)
    }
}
