//! Associations that have ended lately.

use core::time::Duration;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use whimbrel_machine::Instant;

use super::table::Lookup;

/// Associations remembered at most; beyond that the oldest are forgotten.
const MAX_DEPARTED: usize = 4096;

/// The tags and ports of associations that have just ended.
///
/// On raw IP an endpoint shares its address with other SCTP stacks and answers only for ports that are its own. The port
/// of an association that has ended is not, yet its peer may still ask, if the last SHUTDOWN COMPLETE or ABORT was lost:
/// without an answer (RFC 9260 §8.4) it would wait for Association.Max.Retrans timeouts. The tag, which only that peer
/// knows, tells its packets from those of whoever uses the port next.
#[derive(Debug, Default)]
pub(super) struct Departed {
    /// Until when each is remembered, in the order of the ends.
    order: VecDeque<(Instant, u32)>,
    /// Never iterated: its order is not defined.
    ports: FxHashMap<u32, Lookup>,
}

impl Departed {
    /// Notes that the association with our `tag` has ended.
    pub(super) fn note(&mut self, now: Instant, tag: u32, ports: Lookup, remembered: Duration) {
        self.forget(now);
        if self.order.len() >= MAX_DEPARTED
            && let Some((_, oldest)) = self.order.pop_front()
        {
            self.ports.remove(&oldest);
        }
        if self.ports.insert(tag, ports).is_none() {
            self.order.push_back((now + remembered, tag));
        }
    }

    /// Whether a packet with this tag and these ports is for an association that has ended lately.
    pub(super) fn knows(&mut self, now: Instant, tag: u32, ports: Lookup) -> bool {
        self.forget(now);
        self.ports.get(&tag) == Some(&ports)
    }

    fn forget(&mut self, now: Instant) {
        while let Some(&(until, tag)) = self.order.front()
            && until < now
        {
            self.order.pop_front();
            self.ports.remove(&tag);
        }
    }
}

#[cfg(test)]
#[path = "departed_tests.rs"]
mod tests;
