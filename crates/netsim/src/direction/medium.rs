//! A direction whose packets go through a medium that stations share.

use whimbrel_machine::Instant;

use super::{Fate, LinkDirection, Offered};
use crate::DropReason;

impl LinkDirection {
    /// As [`LinkDirection::offer_packet`], where a medium that stations share is in the place of queue and bottleneck: `has_room` gives the packet to it, unless its queue is full.
    /// It waits there until [`LinkDirection::leave_medium`] says what becomes of it.
    pub(crate) fn offer_to_medium(
        &mut self,
        now: Instant,
        packet: &Offered<'_>,
        has_room: impl FnOnce() -> bool,
    ) -> Fate {
        match self.turned_away(now, packet) {
            Some(reason) => self.refuse(reason),
            None if has_room() => Fate::Waits,
            None => self.refuse(DropReason::Queue),
        }
    }

    /// The medium is done with a packet, which it has delivered or given up.
    pub(crate) fn leave_medium(&mut self, now: Instant, delivered: bool) -> Fate {
        if delivered { self.leave(now) } else { self.refuse(DropReason::Loss) }
    }
}
