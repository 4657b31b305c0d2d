//! When what may be sent leaves: at a rate, not as fast as the host can.

use core::time::Duration;

use whimbrel_machine::Instant;

/// Bytes in a train, at most: what one send call takes.
const LARGEST_QUANTUM: usize = 65_000;

/// How a controller wants its window to be spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pacing {
    /// Bytes of DATA chunks a second.
    pub rate: u64,
    /// Bytes in a train at most.
    pub quantum: usize,
}

impl Pacing {
    /// Trains of a millisecond at this rate, of two packets of `pmdcs` bytes at least (draft-ietf-ccwg-bbr, Send Quantum).
    pub fn at(rate: u64, pmdcs: usize) -> Self {
        let rate = rate.max(1);
        let quantum = usize::try_from(rate / 1000).unwrap_or(usize::MAX);
        Self { rate, quantum: quantum.min(LARGEST_QUANTUM).max(2 * pmdcs) }
    }

    /// How long it takes until so many bytes have left.
    pub fn time(&self, bytes: usize) -> Duration {
        let nanos = bytes as u128 * 1_000_000_000 / u128::from(self.rate.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 4))
    }
}

/// Keeps the departures of one path to a rate: each train makes the next one wait as long as it takes at that rate.
///
/// A timer is late by a little, always, and then the next train may leave sooner by as much, up to one quantum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    pacing: Option<Pacing>,
    /// How long a quantum takes.
    horizon: Duration,
    /// When the next train may leave.
    next: Option<Instant>,
    closed: bool,
}

impl Pacer {
    /// A new opportunity to send, with what the controller wants now; `None` to send as fast as the host can.
    #[inline]
    pub fn open(&mut self, now: Instant, pacing: Option<Pacing>) {
        self.pacing = pacing;
        match pacing {
            None => self.closed = false,
            Some(pacing) => {
                self.horizon = pacing.time(pacing.quantum);
                // A rate that has risen since shortens what was to be waited for at the old one.
                self.next = self.next.map(|next| next.min(now + self.horizon));
                self.closed = self.next.is_some_and(|next| next > now);
            }
        }
    }

    /// A packet of so many bytes has left.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, bytes: usize) {
        let Some(pacing) = self.pacing else { return };
        let time = pacing.time(bytes);
        // Late by a quantum at most.
        let next = self.next.map_or(now, |next| next.max(now - self.horizon)) + time;
        self.next = Some(next);
        self.closed = next + time > now + self.horizon;
    }

    /// Whether a packet may leave.
    #[inline]
    pub const fn is_open(&self) -> bool {
        !self.closed
    }

    /// When the next train may leave, if not now.
    pub fn next_departure(&self) -> Option<Instant> {
        self.next.filter(|_| self.closed)
    }

    /// Bytes in a train at most.
    pub fn quantum(&self) -> usize {
        self.pacing.map_or(usize::MAX, |pacing| pacing.quantum)
    }

    /// Whether the path is paced.
    pub const fn is_pacing(&self) -> bool {
        self.pacing.is_some()
    }
}

#[cfg(test)]
#[path = "pacing_tests.rs"]
mod tests;
