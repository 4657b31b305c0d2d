//! State Cookies that have been used.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use whimbrel_machine::Instant;

/// Cookies remembered at most; beyond that the oldest are forgotten.
const MAX_SPENT: usize = 65_536;

/// The tags of cookies that made an association and would still be good.
///
/// An association that is torn down and set up again must have a new tag (RFC 9260 §5.3.1), so a cookie makes one
/// association only. Without this memory, whoever recorded a COOKIE ECHO could have the association, and the DATA that
/// was bundled behind it, come up again after its end, until the cookie is stale. It takes room only after a complete
/// handshake, so a flood of INITs does not touch it.
#[derive(Debug, Default)]
pub(super) struct SpentCookies {
    /// When the cookie becomes stale, and its tag, in the order of use.
    order: VecDeque<(Instant, u32)>,
    /// Never iterated: its order is not defined.
    tags: FxHashSet<u32>,
}

impl SpentCookies {
    /// Notes that the cookie with our `tag`, good until `end`, has been used.
    pub(super) fn spend(&mut self, now: Instant, tag: u32, end: Instant) {
        while let Some(&(oldest_end, oldest)) = self.order.front()
            && (oldest_end < now || self.order.len() >= MAX_SPENT)
        {
            self.order.pop_front();
            self.tags.remove(&oldest);
        }
        if self.tags.insert(tag) {
            self.order.push_back((end, tag));
        }
    }

    /// Whether a cookie with this tag has been used.
    pub(super) fn contains(&self, tag: u32) -> bool {
        self.tags.contains(&tag)
    }
}

#[cfg(test)]
#[path = "spent_tests.rs"]
mod tests;
