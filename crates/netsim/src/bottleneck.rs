use core::time::Duration;

use whimbrel_machine::Instant;

/// What sends one packet after the other at a rate.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    /// Bit/s; `None` sends at once.
    pub(crate) rate_bps: Option<u64>,
    /// When the last bit of all that it has been given has left.
    pub(crate) busy_until: Instant,
    /// What is left of a division by the rate, in bit·ns: carried so that rounding never adds up while busy.
    pub(crate) remainder: u64,
}

impl Bottleneck {
    pub(crate) const fn new(rate_bps: Option<u64>) -> Self {
        Self { rate_bps, busy_until: Instant::ZERO, remainder: 0 }
    }

    /// Sends `bytes` that come at `now` behind all that was given before, and returns when the last bit has left.
    pub(crate) fn send(&mut self, now: Instant, bytes: u64) -> Instant {
        if self.busy_until <= now {
            self.stop(now);
        }
        self.append(bytes)
    }

    /// Sends `bytes` that have waited until the packet before them had left: there is no pause between the two.
    pub(crate) fn send_waiting(&mut self, now: Instant, bytes: u64) -> Instant {
        if self.busy_until < now {
            self.stop(now);
        }
        self.append(bytes)
    }

    /// Has nothing to send from `now` on.
    pub(crate) const fn stop(&mut self, now: Instant) {
        self.busy_until = now;
        self.remainder = 0;
    }

    fn append(&mut self, bytes: u64) -> Instant {
        let Some(rate) = self.rate_bps else { return self.busy_until };
        let rate = rate.max(1);
        // The product fits 64 bits for anything that is a packet; the long way is for what is not.
        let (nanos, remainder) = match (bytes * 8).checked_mul(1_000_000_000) {
            Some(work) if work < u64::MAX - rate => {
                ((work + self.remainder) / rate, (work + self.remainder) % rate)
            }
            _ => ((u128::from(bytes) * 8_000_000_000 / u128::from(rate)) as u64, 0),
        };
        self.remainder = remainder;
        self.busy_until += Duration::from_nanos(nanos);
        self.busy_until
    }
}
