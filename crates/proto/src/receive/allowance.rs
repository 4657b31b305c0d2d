//! How much of the receive buffer the peer is offered: what the program has read lately, several times over.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::saturated;
use crate::config::LimitConfig;

/// The allowance doubles once the program has read this part of it within a round trip. The peer can use no more than one allowance
/// in a round trip, so that a round trip measured eight times too short still lets it grow.
const ENOUGH: u32 = 8;
/// A round trip in which less than this part was read did not need half of it.
const LITTLE: u32 = 64;
/// Of so many such round trips, one after another, half of the allowance is the price.
const CALM: u8 = 16;
/// Taken for the round trip before one has been measured. Too long a time only makes the allowance grow sooner.
const UNKNOWN: Duration = Duration::from_millis(200);

/// The peer may have sent so much that the program has not read, as long as the buffer has room for it.
///
/// It is counted against what the program holds and not against what waits for missing chunks or for the rest of a message: a program
/// cannot read those, and they must not hold up the data that completes them. [`BufferSizing`](crate::config::BufferSizing) says why.
#[derive(Debug)]
pub(super) struct Allowance {
    began: Instant,
    // No buffer is larger than 1 GiB.
    least: u32,
    most: u32,
    bytes: u32,
    /// What the program has read since `began`.
    read: u32,
    /// Round trips in which little was read, one after another.
    calm: u8,
}

impl Allowance {
    pub(super) fn new(limits: &LimitConfig) -> Self {
        let [least, most] = [limits.first_receive_window(), limits.receive_buffer].map(saturated);
        Self { began: Instant::ZERO, least, most, bytes: least, read: 0, calm: 0 }
    }

    /// Bytes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// The program has read `bytes`; `round_trip` says what data takes to it, if that is known.
    #[inline]
    pub(super) fn on_read(
        &mut self,
        now: Instant,
        bytes: usize,
        round_trip: impl FnOnce() -> Option<Duration>,
    ) {
        if self.least < self.most {
            self.measure(now, bytes, round_trip().unwrap_or(UNKNOWN));
        }
    }

    fn measure(&mut self, now: Instant, bytes: usize, round_trip: Duration) {
        if now.saturating_since(self.began) >= round_trip {
            self.calm = if self.read < self.bytes / LITTLE { self.calm + 1 } else { 0 };
            self.begin(now);
            if self.calm == CALM {
                self.calm = 0;
                self.bytes = (self.bytes / 2).max(self.least);
            }
        }
        self.read = self.read.saturating_add(saturated(bytes));
        if self.read >= self.bytes / ENOUGH {
            self.calm = 0;
            self.begin(now);
            self.bytes = self.bytes.saturating_mul(2).min(self.most);
        }
    }

    fn begin(&mut self, now: Instant) {
        self.began = now;
        self.read = 0;
    }
}

#[cfg(test)]
#[path = "allowance_tests.rs"]
mod tests;
