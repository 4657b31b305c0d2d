//! How long messages wait in the sender because their path carries less than it did.

use core::time::Duration;

use crate::delivery::rate;

/// A path carries far less than it did if it carries less than three quarters.
const FAR_LESS: (u128, u128) = (3, 4);

/// What waits for less time than this does not wait.
const SHORTEST: Duration = Duration::from_millis(10);

/// Watches what a path carries and what waits for it meanwhile, and tells for how long messages wait by the path's fault.
///
/// A sender that keeps a network's queue short, as BBR does, sees no longer round trips when the network gets slower: what it may not send
/// waits on its own host. But a user who has much to send at once waits, too, wherever that goes. They are told apart by what the path carried
/// while nothing waited: a path that carries far less than that does not give what it gave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// Bytes that have arrived at the peer since the span began.
    arrived: u64,
    /// The fewest bytes that waited for the path in this span; `None` before anything has arrived.
    least: Option<u64>,
    /// What the path carried of late while nothing waited, in bytes/s. Where something waits it stays.
    carried: u64,
    /// What it carried in the span before, in bytes/s: while that grows, as in slow start, the path may carry more yet.
    before: u64,
}

impl Waiting {
    /// So many bytes have arrived, and so many wait for the path.
    pub(super) fn on_acknowledged(&mut self, bytes: u64, waiting: u64) {
        self.arrived = self.arrived.saturating_add(bytes);
        self.least = Some(self.least.map_or(waiting, |least| least.min(waiting)));
    }

    /// What the path carried of late while nothing waited, in bytes/s.
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }

    /// The path should carry so much, in bytes/s.
    pub(super) fn expect(&mut self, carried: u64) {
        self.carried = self.carried.max(carried);
    }

    /// The span is over, which lasted so long: for how long messages wait because the path carries less than it did.
    pub(super) fn close(&mut self, lasted: Duration) -> Option<Duration> {
        let arrived = core::mem::take(&mut self.arrived);
        let waiting = self.least.take()?;
        let rate = rate(arrived, lasted)?;
        let waits = for_how_long(waiting, rate);
        let before = core::mem::replace(&mut self.before, rate);
        if waits < SHORTEST {
            self.carried = rate.max(self.carried - self.carried / 16);
            return None;
        }
        let grows = rate > before.saturating_add(before / 8);
        let (part, whole) = FAR_LESS;
        let far_less = u128::from(rate) * whole < u128::from(self.carried) * part;
        (far_less && !grows).then_some(waits)
    }
}

/// For how long so many bytes wait where `rate` bytes/s leave.
fn for_how_long(waiting: u64, rate: u64) -> Duration {
    let nanos = u128::from(waiting) * Duration::from_secs(1).as_nanos() / u128::from(rate).max(1);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
