//! Random choices for scenarios.

use core::time::Duration;

use whimbrel_machine::Rng;

/// Draws from one random stream.
pub(crate) struct Draw(pub(crate) Rng);

impl Draw {
    /// Uniform in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// Between `low` and `high` (`low` at least 1), every order of magnitude as likely as any other.
    pub(crate) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (from, to) = ((low as f64).ln(), (high as f64).ln());
        ((from + (to - from) * self.0.unit()).exp() as u64).clamp(low, high)
    }

    /// True with probability `p`.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.0.chance(p)
    }

    /// One of the values.
    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.0.below(values.len() as u64) as usize]
    }

    /// Uniform in `[0, max)`.
    pub(crate) fn up_to(&mut self, max: f64) -> f64 {
        self.0.unit() * max
    }

    /// Uniform in milliseconds, `low..=high`.
    pub(crate) fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }
}
