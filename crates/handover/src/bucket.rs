use core::time::Duration;

use whimbrel_machine::Instant;

/// Allows `burst` things at once and one more per `refill`: in any time T at most burst + T / refill of them happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    burst: u32,
    refill: Duration,
    /// When the bucket will be full again; each thing done puts it off by one `refill`.
    full_at: Instant,
}

impl Bucket {
    pub(crate) fn new(burst: u32, refill: Duration) -> Self {
        Self { burst: burst.max(1), refill, full_at: Instant::ZERO }
    }

    /// When the next thing may be done; not after `now` if it may be done at once.
    pub(crate) fn next(&self) -> Instant {
        self.full_at - self.refill * (self.burst - 1)
    }

    pub(crate) fn take(&mut self, now: Instant) {
        self.full_at = self.full_at.max(now) + self.refill;
    }
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
