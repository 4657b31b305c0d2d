use core::time::Duration;
use std::sync::{Arc, OnceLock};

use whimbrel_machine::Instant;

/// When messages were made, for those who see them arrive. The first is made when the association is up, unless the traffic has a time for
/// it, the others at even intervals after it.
#[derive(Clone, Debug)]
pub struct Schedule {
    first: Arc<OnceLock<Instant>>,
    interval: Duration,
    count: u64,
}

impl Schedule {
    pub(super) fn new(interval: Duration, count: u64) -> Self {
        Self { first: Arc::default(), interval, count }
    }

    /// The first message is made; of several times the first counts.
    pub(super) fn begin(&self, first: Instant) {
        self.first.get_or_init(|| first);
    }

    pub(super) const fn interval(&self) -> Duration {
        self.interval
    }

    /// When message `number` is made, counted from 0; `None` before the first.
    pub fn made(&self, number: u64) -> Option<Instant> {
        let after = u128::from(number) * self.interval.as_nanos();
        Some(*self.first.get()? + Duration::from_nanos(u64::try_from(after).unwrap_or(u64::MAX)))
    }

    /// How many messages are made until `end`, that instant included.
    pub fn made_until(&self, end: Instant) -> u64 {
        let Some(first) = self.first.get().filter(|first| **first <= end) else { return 0 };
        let later = (end - *first).as_nanos() / self.interval.as_nanos().max(1);
        self.count.min(u64::try_from(later).unwrap_or(u64::MAX).saturating_add(1))
    }
}
