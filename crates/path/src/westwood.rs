use core::time::Duration;

use whimbrel_machine::Instant;

use crate::Estimate;

/// A window is no shorter.
const SHORTEST: Duration = Duration::from_millis(50);

/// So many windows without anything leave a hundredth of a percent of the estimate.
const MOST_EMPTY: u64 = 64;

/// What a path carries of late, as TCP Westwood+ estimates it (b08 section 4.2.2.2): of what is acknowledged in windows that follow each other, each as long
/// as a round trip and at least 50 ms, a moving average, in which a window counts for an eighth.
///
/// It is what is left for this sender while it sends as fast as it may. Who sends less, or nothing, measures that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Westwood {
    /// When the present window began.
    began: Option<Instant>,
    /// Bytes acknowledged in it.
    bytes: u64,
    estimate: Option<Estimate>,
}

impl Westwood {
    /// So many bytes of IP packets have been acknowledged; a round trip takes so long.
    pub fn on_acknowledged(&mut self, now: Instant, bytes: u64, round_trip: Duration) {
        // What the first acknowledgement is for has left before anything was measured.
        let Some(began) = self.began else {
            self.began = Some(now);
            return;
        };
        let window = round_trip.max(SHORTEST);
        if now < began + window {
            self.bytes = self.bytes.saturating_add(bytes);
            return;
        }
        let windows = now.saturating_since(began).as_nanos() / window.as_nanos();
        let windows = u64::try_from(windows).unwrap_or(u64::MAX);
        let bits = u128::from(core::mem::replace(&mut self.bytes, bytes)) * 8;
        let sample = bits * 1_000_000_000 / window.as_nanos();
        self.take_in(now, u64::try_from(sample).unwrap_or(u64::MAX));
        for _ in 0..(windows - 1).min(MOST_EMPTY) {
            self.take_in(now, 0);
        }
        let rest = now.saturating_since(began).as_nanos() % window.as_nanos();
        self.began = Some(now - Duration::from_nanos(u64::try_from(rest).unwrap_or_default()));
    }

    /// What is known; `None` before the first window is over.
    pub const fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn take_in(&mut self, now: Instant, sample: u64) {
        let rate = self.estimate.map_or(sample, |Estimate { rate, .. }| rate - rate / 8 + sample / 8);
        self.estimate = Some(Estimate { rate, at: now });
    }
}

#[cfg(test)]
#[path = "westwood_tests.rs"]
mod tests;
