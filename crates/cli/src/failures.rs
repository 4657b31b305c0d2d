//! How many failed files of others are listed: whoever may send may have files fail as often as he likes.

use std::time::{Duration, Instant};

/// Files that are listed at once.
const LISTED: u32 = 50;
/// How long it takes until one more may be.
const AGAIN: Duration = Duration::from_secs(10);

/// How many failures of others may be listed now.
pub(crate) struct Failures {
    left: u32,
    /// When `left` was right.
    since: Instant,
    unlisted: u64,
}

impl Failures {
    pub(crate) fn new(now: Instant) -> Self {
        Self { left: LISTED, since: now, unlisted: 0 }
    }

    /// Whether one more may be listed, and how many before it were not.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        let more = now.saturating_duration_since(self.since).as_secs() / AGAIN.as_secs();
        if more > 0 {
            let more = u32::try_from(more).unwrap_or(LISTED);
            (self.left, self.since) = (self.left.saturating_add(more).min(LISTED), now);
        }
        let Some(left) = self.left.checked_sub(1) else {
            self.unlisted += 1;
            return None;
        };
        self.left = left;
        Some(std::mem::take(&mut self.unlisted))
    }
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
