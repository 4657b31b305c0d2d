use core::time::Duration;

use whimbrel_machine::{Instant, ReceivedPower};

/// Readings closer together than this say nothing about a trend.
const SHORTEST: Duration = Duration::from_millis(5);

/// Over about this time readings are smoothed, in seconds: noise cancels out, and a fall is still seen in time.
const SMOOTHING: f64 = 0.3;

/// And over about so many readings where they are few: a card that is asked twice a second tells its noise with each of them.
const READINGS: f64 = 8.0;

/// How fast a signal changes, from its readings.
///
/// Straight lines in watts: near the edge of coverage, where it matters, a signal that
/// falls with the fourth power of the distance is as good as straight over the second or two that are looked ahead.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trend {
    last: Option<(Instant, ReceivedPower)>,
    /// Attowatts per second.
    slope: f64,
}

impl Trend {
    /// Takes in a reading.
    pub fn on_reading(&mut self, now: Instant, power: ReceivedPower) {
        let Some((at, before)) = self.last else {
            self.last = Some((now, power));
            return;
        };
        let elapsed = now.saturating_since(at);
        if elapsed < SHORTEST {
            return;
        }
        let elapsed = elapsed.as_secs_f64();
        let change = power.attowatts() as f64 - before.attowatts() as f64;
        let over = SMOOTHING.max(READINGS * elapsed);
        self.slope += (change / elapsed - self.slope) * elapsed / (elapsed + over);
        self.last = Some((now, power));
    }

    /// How long until the signal falls below `floor` if it goes on like this; `None` if it does not fall.
    pub fn time_until(&self, now: Instant, floor: ReceivedPower) -> Option<Duration> {
        let (at, power) = self.last?;
        if power < floor {
            return Some(Duration::ZERO);
        }
        if self.slope >= 0.0 {
            return None;
        }
        let left = (power.attowatts() - floor.attowatts()) as f64 / -self.slope;
        let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
        Some(left.saturating_sub(now.saturating_since(at)))
    }

    /// When it was last told anything.
    pub fn last_reading(&self) -> Option<Instant> {
        self.last.map(|(at, _)| at)
    }
}

#[cfg(test)]
#[path = "trend_tests.rs"]
mod tests;
