//! Durations in buckets of constant relative width: any number of samples in constant memory.

use std::time::Duration;

/// Buckets per factor of two: values are known to 3 %.
const FINENESS: u32 = 32;

/// A histogram of durations from 1 ns up.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    min: Duration,
    max: Duration,
    sum: Duration,
}

impl Histogram {
    pub(super) fn new() -> Self {
        let buckets = vec![0; 64 * FINENESS as usize];
        Self { buckets, count: 0, min: Duration::MAX, max: Duration::ZERO, sum: Duration::ZERO }
    }

    pub(super) fn record(&mut self, sample: Duration) {
        let nanos = u64::try_from(sample.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.buckets[bucket(nanos)] += 1;
        self.count += 1;
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
        self.sum = self.sum.saturating_add(sample);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn min(&self) -> Duration {
        self.min.min(self.max)
    }

    pub(super) fn max(&self) -> Duration {
        self.max
    }

    pub(super) fn mean(&self) -> Duration {
        self.sum.checked_div(u32::try_from(self.count).unwrap_or(u32::MAX)).unwrap_or_default()
    }

    /// The duration below which a share `quantile` (0 to 1) of the samples lies.
    pub(super) fn quantile(&self, quantile: f64) -> Duration {
        let rank = (self.count as f64 * quantile).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, &count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let (octave, step) = (index as u32 / FINENESS, index as u32 % FINENESS);
                let nanos =
                    2.0_f64.powi(octave as i32) * (1.0 + (f64::from(step) + 0.5) / f64::from(FINENESS));
                return Duration::from_nanos(nanos as u64).clamp(self.min(), self.max);
            }
        }
        self.max
    }
}

fn bucket(nanos: u64) -> usize {
    let octave = nanos.ilog2();
    let within = (u128::from(nanos) * u128::from(FINENESS)) >> octave;
    (octave * FINENESS) as usize + (within as usize - FINENESS as usize)
}

#[cfg(test)]
#[path = "histogram_tests.rs"]
mod tests;
