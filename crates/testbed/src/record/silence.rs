use core::time::Duration;

use whimbrel_machine::Instant;

/// The longest time in which nothing was delivered: from a given time on, and after the first delivery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    from: Instant,
    last: Option<Instant>,
    longest: Duration,
}

impl Silence {
    /// Counts from `from` on; a silence that has begun earlier counts with what is left of it.
    pub const fn from(from: Instant) -> Self {
        Self { from, last: None, longest: Duration::ZERO }
    }

    /// Something is delivered.
    pub fn on_delivery(&mut self, now: Instant) {
        self.longest = self.until(now);
        self.last = Some(now);
    }

    /// When something was delivered last.
    pub const fn last(&self) -> Option<Instant> {
        self.last
    }

    /// The longest until `end`; `None` if nothing was delivered, or if it ends before it counts.
    pub fn longest(&self, end: Instant) -> Option<Duration> {
        (self.last.is_some() && end >= self.from).then(|| self.until(end))
    }

    fn until(&self, end: Instant) -> Duration {
        let open = self.last.map(|last| end.saturating_since(last.max(self.from)));
        self.longest.max(open.unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "silence_tests.rs"]
mod tests;
