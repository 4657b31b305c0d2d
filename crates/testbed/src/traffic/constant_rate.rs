use core::time::Duration;

use whimbrel_machine::Instant;

use super::{Schedule, Traffic};

/// Messages of one size at even intervals, whatever the network does: a constant bit rate, or a video by its frames.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    size: usize,
    schedule: Schedule,
    next: Option<Instant>,
    left: u64,
}

impl ConstantRate {
    /// Messages of `size` bytes, `rate_bps` bit/s of user data, without end.
    pub fn new(size: usize, rate_bps: f64) -> Self {
        Self::every(size, Duration::from_secs_f64(size as f64 * 8.0 / rate_bps), u64::MAX)
    }

    /// `count` messages of `size` bytes, one at once and then one at every `interval`. An interval of zero counts as 1 ns.
    pub fn every(size: usize, interval: Duration, count: u64) -> Self {
        let schedule = Schedule::new(interval.max(Duration::from_nanos(1)), count);
        Self { size, schedule, next: None, left: count }
    }

    /// The same with its first message made at `first`, be there an association or not: what is due when it is up is sent at once.
    /// It must not be up sooner.
    #[must_use]
    pub fn starting(mut self, first: Instant) -> Self {
        self.schedule.begin(first);
        self.next = Some(first);
        self
    }

    /// When its messages are made.
    pub fn schedule(&self) -> Schedule {
        self.schedule.clone()
    }
}

impl Traffic for ConstantRate {
    fn offer(&mut self, now: Instant, _acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        let mut next = self.next.unwrap_or(now);
        self.schedule.begin(next);
        let before = next;
        while next <= now && self.left > 0 {
            send(self.size);
            self.left -= 1;
            next += self.schedule.interval();
        }
        self.next = Some(next);
        // Asked between two messages it has named its next time already.
        (next != before && self.left > 0).then_some(next)
    }
}
