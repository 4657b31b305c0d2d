//! What the application above a connection sends.

use core::fmt;
use core::time::Duration;

use whimbrel_machine::Instant;

/// An application that hands bytes to a connection.
pub trait Source: fmt::Debug + Send {
    /// The bytes handed over until `now`, in all. The first call is when the connection is established.
    fn produced(&mut self, now: Instant) -> u64;
    /// When there will be more; `None` if nothing is to be waited for.
    fn next(&self) -> Option<Instant>;
    /// How many bytes there are in all, where they end.
    fn size(&self) -> Option<u64>;
}

/// Always has more to send.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl Source for Greedy {
    fn produced(&mut self, _now: Instant) -> u64 {
        u64::MAX
    }

    fn next(&self) -> Option<Instant> {
        None
    }

    fn size(&self) -> Option<u64> {
        None
    }
}

/// A file of so many bytes, there from the start.
#[derive(Clone, Copy, Debug)]
pub struct File(pub u64);

impl Source for File {
    fn produced(&mut self, _now: Instant) -> u64 {
        self.0
    }

    fn next(&self) -> Option<Instant> {
        None
    }

    fn size(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// A message of `bytes` at once and then at every `interval`, `count` of them.
#[derive(Clone, Copy, Debug)]
pub struct ConstantRate {
    bytes: u64,
    interval: Duration,
    count: u64,
    produced: u64,
    next: Option<Instant>,
}

impl ConstantRate {
    /// `count` messages of `bytes` each. An interval of zero counts as 1 ns.
    pub fn new(bytes: u64, interval: Duration, count: u64) -> Self {
        Self { bytes, interval: interval.max(Duration::from_nanos(1)), count, produced: 0, next: None }
    }

    /// The same with its first message made at `first`, be there a connection or not, instead of when it is established.
    #[must_use]
    pub const fn starting(self, first: Instant) -> Self {
        Self { next: Some(first), ..self }
    }
}

impl Source for ConstantRate {
    fn produced(&mut self, now: Instant) -> u64 {
        let mut next = self.next.unwrap_or(now);
        while next <= now && self.produced < self.count {
            self.produced += 1;
            next += self.interval;
        }
        self.next = Some(next);
        self.produced.saturating_mul(self.bytes)
    }

    fn next(&self) -> Option<Instant> {
        self.next.filter(|_| self.produced < self.count)
    }

    fn size(&self) -> Option<u64> {
        Some(self.count.saturating_mul(self.bytes))
    }
}
