//! How often durations were how long.

use core::time::Duration;

/// Durations in ranges that are fixed, so that those of many associations, shards and hosts can be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DurationHistogram {
    counts: [u64; Self::RANGES],
    sum: Duration,
}

impl DurationHistogram {
    const RANGES: usize = Self::BOUNDS.len() + 1;

    /// The longest duration of each range but the last, which has no bound.
    pub const BOUNDS: [Duration; 16] = [
        Duration::from_micros(100),
        Duration::from_micros(200),
        Duration::from_micros(500),
        Duration::from_millis(1),
        Duration::from_millis(2),
        Duration::from_millis(5),
        Duration::from_millis(10),
        Duration::from_millis(20),
        Duration::from_millis(50),
        Duration::from_millis(100),
        Duration::from_millis(200),
        Duration::from_millis(500),
        Duration::from_secs(1),
        Duration::from_secs(2),
        Duration::from_secs(5),
        Duration::from_secs(10),
    ];

    /// Counts a duration.
    pub fn record(&mut self, duration: Duration) {
        let range = Self::BOUNDS.iter().position(|bound| duration <= *bound);
        self.counts[range.unwrap_or(Self::BOUNDS.len())] += 1;
        self.sum = self.sum.saturating_add(duration);
    }

    /// Counts what another histogram has counted.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// How many durations there were in each range; the last is for those above all of [`Self::BOUNDS`].
    pub const fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many durations there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All durations together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
#[path = "histogram_tests.rs"]
mod tests;
