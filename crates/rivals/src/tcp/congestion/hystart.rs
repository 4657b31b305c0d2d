use core::time::Duration;

use whimbrel_machine::Instant;

use super::CongestionControl;

/// Below so many segments slow start is left to losses.
const LOW_WINDOW: u64 = 16;
/// Acknowledgements that are no further apart than this are one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// So many round trips are measured before a round is judged by the least of them.
const SAMPLES: u32 = 8;
/// Within these the delay may grow by an eighth of the least round trip.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);

/// HyStart as Linux's CUBIC has it (Ha and Rhee 2011), for senders that do not pace: slow start ends, without a loss, when the acknowledgements of a
/// round have come in a train for half of the least round trip, or when the least of the first round trips of a round is longer than that of the connection by an eighth.
/// It holds for each slow start, those after timeouts included.
#[derive(Debug)]
pub(super) struct HyStart<C> {
    mss: u64,
    inner: C,
    least: Option<Duration>,
    round: Option<Round>,
}

/// One round trip's worth of data.
#[derive(Debug)]
struct Round {
    start: Instant,
    /// It is over when this is acknowledged.
    end: u64,
    last_in_train: Instant,
    least: Duration,
    samples: u32,
}

impl<C: CongestionControl> HyStart<C> {
    pub(super) const fn around(mss: u64, inner: C) -> Self {
        Self { mss, inner, least: None, round: None }
    }

    /// Whether slow start has gone far enough.
    fn found(&mut self, now: Instant, rtt: Duration, acknowledged: u64, end: u64) -> bool {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.round.as_ref().is_none_or(|round| acknowledged > round.end) {
            self.round =
                Some(Round { start: now, end, last_in_train: now, least: Duration::MAX, samples: 0 });
        }
        let Some(round) = self.round.as_mut().filter(|_| self.inner.window() >= LOW_WINDOW * self.mss) else {
            return false;
        };
        let mut found = false;
        if now - round.last_in_train <= TRAIN_GAP {
            round.last_in_train = now;
            found = now - round.start > least / 2;
        }
        round.least = round.least.min(rtt);
        if round.samples < SAMPLES {
            round.samples += 1;
            return found;
        }
        found || round.least > least + (least / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

impl<C: CongestionControl> CongestionControl for HyStart<C> {
    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn on_acknowledged(&mut self, now: Instant, bytes: u64, srtt: Duration) {
        self.inner.on_acknowledged(now, bytes, srtt);
    }

    fn on_loss(&mut self, now: Instant, flight: u64) {
        self.inner.on_loss(now, flight);
    }

    fn on_timeout(&mut self, now: Instant, flight: u64, repeated: bool) {
        (self.least, self.round) = (None, None);
        self.inner.on_timeout(now, flight, repeated);
    }

    fn on_deflation(&mut self, flight: u64) {
        self.inner.on_deflation(flight);
    }

    fn on_undo(&mut self) {
        self.inner.on_undo();
    }

    fn on_measurement(&mut self, now: Instant, rtt: Duration, acknowledged: u64, end: u64) {
        if self.inner.is_in_slow_start() && self.found(now, rtt, acknowledged, end) {
            self.inner.end_slow_start();
        }
    }

    fn is_in_slow_start(&self) -> bool {
        self.inner.is_in_slow_start()
    }

    fn end_slow_start(&mut self) {
        self.inner.end_slow_start();
    }
}

#[cfg(test)]
#[path = "hystart_tests.rs"]
mod tests;
