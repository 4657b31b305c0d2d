use core::time::Duration;

use whimbrel_machine::Instant;

use super::Traffic;

/// Messages of one size at even intervals, whatever the network does.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    size: usize,
    interval: Duration,
    next: Option<Instant>,
}

impl ConstantRate {
    /// Messages of `size` bytes, `rate_bps` bit/s of user data.
    pub fn new(size: usize, rate_bps: f64) -> Self {
        Self { size, interval: Duration::from_secs_f64(size as f64 * 8.0 / rate_bps), next: None }
    }
}

impl Traffic for ConstantRate {
    fn offer(&mut self, now: Instant, _acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        let mut next = self.next.unwrap_or(now);
        let before = next;
        while next <= now {
            send(self.size);
            next += self.interval;
        }
        self.next = Some(next);
        // Asked between two messages it has named its next time already.
        (next != before).then_some(next)
    }
}
