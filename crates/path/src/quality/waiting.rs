//! How long messages wait in the sender because their path carries less than it did.

use core::time::Duration;

use crate::delivery::rate;

/// What waits for less time than this does not wait.
const SHORTEST: Duration = Duration::from_millis(10);

/// So many spans in a row tell of a limit. One may have a stall in it.
const FOUND: u32 = 2;

/// The span in which data was held back, and the one after it.
const HELD_BACK: u32 = 2;

/// A span that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// How long it lasted.
    pub lasted: Duration,
    /// It has no outage in it, after which a path would carry more.
    pub steady: bool,
    /// Round trips took much longer in it than they used to, and longer than in the span before: a queue fills in the network.
    pub fills: bool,
}

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
    /// It carried far less than was to be sent in this span, so much, in bytes/s.
    short_of: Option<u64>,
    /// In so many spans in a row.
    short: u32,
    /// What it carries at most, as far as that was found, in bytes/s; and in how many of the last spans in a row.
    limit: Option<u64>,
    found: u32,
    /// Data began to go by the path in this span.
    begins: bool,
    /// So many spans, this one included, say nothing of the path: data was held back to measure it, or arrives as it left then.
    held_back: u32,
    /// For how long messages waited in the last span that did say something.
    waits: Option<Duration>,
}

impl Waiting {
    /// So many bytes have arrived, and so many wait for the path.
    pub(super) fn on_acknowledged(&mut self, bytes: u64, waiting: u64) {
        self.arrived = self.arrived.saturating_add(bytes);
        self.least = Some(self.least.map_or(waiting, |least| least.min(waiting)));
    }

    /// Something has arrived while the controller holds data back to measure the path.
    pub(super) fn on_held_back(&mut self) {
        self.held_back = HELD_BACK;
    }

    /// What the path carried of late while nothing waited, in bytes/s.
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }

    /// What the path carries now, in bytes/s.
    pub(super) fn carries(&self) -> u64 {
        self.short_of.unwrap_or(self.carried)
    }

    /// Whether the path has carried far less than was to be sent for three spans: more than a window needs to grow with the round trip.
    pub(super) fn is_short_for_long(&self) -> bool {
        self.short >= 3
    }

    /// What the path carried at last while more waited, in bytes/s, if it has not carried more since.
    pub(super) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether that was found in the last span, and in the one before.
    pub(super) fn found_limit(&self) -> bool {
        self.found >= FOUND
    }

    /// The path may carry more than was found.
    pub(super) fn forget_limit(&mut self) {
        self.limit = None;
    }

    /// New data goes by the path from now on, and it should carry so much, in bytes/s. What it has carried in the span so far tells nothing of that.
    pub(super) fn expect(&mut self, carried: u64) {
        self.carried = self.carried.max(carried);
        self.begins = true;
    }

    /// A span is over: for how long messages wait because the path carries less than it did.
    pub(super) fn close(&mut self, span: Ended) -> Option<Duration> {
        if self.held_back > 0 {
            self.held_back -= 1;
            (self.arrived, self.least) = (0, None);
        } else {
            self.waits = self.judge(span);
        }
        self.waits
    }

    fn judge(&mut self, span: Ended) -> Option<Duration> {
        let found = core::mem::take(&mut self.found);
        let arrived = core::mem::take(&mut self.arrived);
        let least = self.least.take();
        if core::mem::take(&mut self.begins) {
            self.before = rate(arrived, span.lasted).unwrap_or_default();
            return None;
        }
        let waiting = least?;
        let rate = rate(arrived, span.lasted)?;
        let waits = for_how_long(waiting, rate);
        let before = core::mem::replace(&mut self.before, rate);
        self.limit = self.limit.filter(|&limit| rate <= limit.saturating_add(limit / 8));
        let grows = rate > before.saturating_add(before / 8);
        let short = is_far_less(rate, self.carried) && !grows;
        if short && span.steady && (span.fills || waits >= SHORTEST) {
            self.found = found.saturating_add(1);
        }
        if self.found_limit() {
            self.limit = Some(rate);
        }
        if waits < SHORTEST {
            self.carried = rate.max(self.carried - self.carried / 16);
        }
        if waits < SHORTEST || !short {
            (self.short, self.short_of) = (0, None);
            return None;
        }
        if !span.steady {
            // Nothing arrived for some of the time: an outage is no slowness, and what the path carries grows from here.
            return self.waits;
        }
        self.short_of = Some(rate);
        self.short = self.short.saturating_add(1);
        Some(waits)
    }
}

/// Whether `rate` is less than three quarters of `carried`.
pub(super) fn is_far_less(rate: u64, carried: u64) -> bool {
    u128::from(rate) * 4 < u128::from(carried) * 3
}

/// For how long so many bytes wait where `rate` bytes/s leave.
fn for_how_long(waiting: u64, rate: u64) -> Duration {
    let nanos = u128::from(waiting) * Duration::from_secs(1).as_nanos() / u128::from(rate).max(1);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
