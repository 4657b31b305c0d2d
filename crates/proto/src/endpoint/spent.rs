//! State Cookies that have been used.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use whimbrel_machine::Instant;

use super::table::Lookup;

/// Cookies remembered at most; beyond that the oldest are forgotten.
const MAX_SPENT: usize = 65_536;

/// Associations that have been set up and whose cookies would still be good, by the peer's tag.
///
/// An association that is torn down and set up again must have new tags (RFC 9260 §5.3.1), so of all cookies for one tag of a peer only
/// the first that is used makes an association. Without this memory, whoever recorded a COOKIE ECHO could have the association, and
/// the DATA that was bundled behind it, come up again after its end, until the cookie is stale. Nor need anybody mean harm: where
/// both sides began at once there are two cookies, and that of which the association was not made may come after its end.
/// While it lives that one is discarded (§5.2.4 C). This takes room only after a complete handshake, so a flood of INITs does not
/// touch it.
#[derive(Debug, Default)]
pub(super) struct SpentCookies {
    /// When the last cookie becomes stale, and whose it is, in the order of use.
    order: VecDeque<(Instant, Peer)>,
    /// When their association was set up, and when the last cookie becomes stale. Never iterated: its order is not defined.
    peers: FxHashMap<Peer, (Instant, Instant)>,
}

/// A peer's tag, and the ports.
type Peer = (u32, Lookup);

impl SpentCookies {
    /// Notes that an association with the peer that has chosen `tag` is set up. Its cookies are good until `end`.
    pub(super) fn spend(&mut self, now: Instant, tag: u32, ports: Lookup, end: Instant) {
        while let Some(&(oldest_end, oldest)) = self.order.front()
            && (oldest_end < now || self.order.len() >= MAX_SPENT)
        {
            self.order.pop_front();
            // Unless the same tag has been used again since.
            if self.peers.get(&oldest).is_some_and(|&(_, end)| end == oldest_end) {
                self.peers.remove(&oldest);
            }
        }
        let before = self.peers.insert((tag, ports), (now, end));
        if before.is_none_or(|(_, before)| before != end) {
            self.order.push_back((end, (tag, ports)));
        }
    }

    /// Whether a cookie of this peer that was made at `created` is from before an association with it.
    pub(super) fn contains(&self, created: Instant, tag: u32, ports: Lookup) -> bool {
        self.peers.get(&(tag, ports)).is_some_and(|&(begun, _)| created <= begun)
    }
}

#[cfg(test)]
#[path = "spent_tests.rs"]
mod tests;
