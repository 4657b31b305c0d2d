use core::time::Duration;

use whimbrel_machine::{Instant, ReceivedPower};

/// Readings closer together than this say nothing about a trend.
const SHORTEST: Duration = Duration::from_millis(5);

/// Over about this time readings are smoothed, in seconds: noise cancels out, and a fall is still seen in time.
const SMOOTHING: f64 = 0.3;

/// And over about so many readings where they are few: a card that is asked twice a second tells its noise with each of them.
const READINGS: f64 = 8.0;

/// Weaker readings count as this one, -110 dBm: nobody receives anything there, and the range to nothing would be infinite.
const WEAKEST: u64 = 10_000;

/// For so long after the last reading a signal is believed to go on as it did: nobody walks at an even pace for longer, and a radio
/// that reports changes alone says by its silence that there are none.
const BELIEVED: Duration = Duration::from_secs(10);

/// How fast a signal changes, from its readings.
///
/// The power falls with the fourth power of the distance (c04 formula 1), so its fourth root is taken: whoever walks away from an antenna
/// gets farther from it at an even pace, while the watts fall steeply at first and hardly any more at the edge of coverage. A line through them, or
/// through their logarithm, would have the signal end within a second of setting out. Where it falls with the square, as in free space, the line
/// is too steep near the antenna, and right again towards the edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trend {
    last: Option<(Instant, ReceivedPower)>,
    /// Of [`range`], per second.
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
        let change = range(power) - range(before);
        let over = SMOOTHING.max(READINGS * elapsed);
        self.slope += (change / elapsed - self.slope) * elapsed / (elapsed + over);
        self.last = Some((now, power));
    }

    /// How long until the signal falls below `floor` if it goes on like this; `None` if it does not fall, or if nothing has been told
    /// for 10 s.
    pub fn time_until(&self, now: Instant, floor: ReceivedPower) -> Option<Duration> {
        let (at, power) = self.last?;
        if power < floor {
            return Some(Duration::ZERO);
        }
        let silence = now.saturating_since(at);
        if self.slope <= 0.0 || silence > BELIEVED {
            return None;
        }
        let left = (range(floor) - range(power)).max(0.0) / self.slope;
        let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
        Some(left.saturating_sub(silence))
    }

    /// When it was last told anything.
    pub fn last_reading(&self) -> Option<Instant> {
        self.last.map(|(at, _)| at)
    }
}

/// How far the antenna is, in a unit of length that depends on the antenna. Square roots alone, which are the same on every machine.
fn range(power: ReceivedPower) -> f64 {
    (power.attowatts().max(WEAKEST) as f64).sqrt().sqrt().recip()
}

#[cfg(test)]
#[path = "trend_tests.rs"]
mod tests;
