//! Whether, and when, an attempt to connect that has failed is made again.

use core::time::Duration;

use tokio::time::Instant;
use whimbrel_proto::{CloseReason, KEY_EXCHANGE, KeyExchangeError};

use crate::error::ConnectError;

/// Before the second attempt at a peer that is out of resources, on average.
const FIRST: Duration = Duration::from_millis(50);
/// Between later ones, on average.
const LONGEST: Duration = Duration::from_secs(1);

/// The attempts of one call: they may take as long as one alone may take to agree on keys.
pub(crate) struct Persistence {
    until: Instant,
    pause: Duration,
}

impl Persistence {
    pub(crate) fn new(now: Instant) -> Self {
        Self { until: now + KEY_EXCHANGE, pause: FIRST }
    }

    /// How long to wait before another attempt, now that one has failed; `None` if that is the outcome. `chance` decides where in its range the
    /// pause lies.
    pub(crate) fn pause(&mut self, now: Instant, error: &ConnectError, chance: u8) -> Option<Duration> {
        let ConnectError::Failed(reason) = error else { return None };
        let pause = if *reason == CloseReason::KeyExchange(KeyExchangeError::Late) {
            // The attempt itself took its time.
            Duration::ZERO
        } else if reason.is_peer_out_of_resource() {
            // All who met the same crowd would meet again after the same time.
            let jittered = self.pause.mul_f64(0.5 + f64::from(chance) / 256.0);
            self.pause = (self.pause * 2).min(LONGEST);
            jittered
        } else {
            return None;
        };
        (now + pause < self.until).then_some(pause)
    }
}

/// What decides about a pause; without random numbers all pauses are of the mean length.
pub(crate) fn chance() -> u8 {
    let mut byte = [128];
    let _ = getrandom::fill(&mut byte);
    byte[0]
}

#[cfg(test)]
#[path = "persistence_tests.rs"]
mod tests;
