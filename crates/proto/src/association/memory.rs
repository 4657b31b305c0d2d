//! An association gives back memory that others need more.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Cause;

use super::{Association, Ending, Phase};
use crate::interface::CloseReason;
use crate::receive::Standing;

impl Association {
    /// When the peer was last heard, if anything that it has sent is here and has not gone to the user. What comes before the association is up
    /// goes to nobody, so that it is the first to make room.
    pub(crate) fn holds_since(&self) -> Option<Instant> {
        let open = self.open().filter(|open| open.receive.holds_unfinished())?;
        Some(if open.auth.is_pending() { Instant::ZERO } else { open.notes.heard })
    }

    /// What lies beyond gaps, in bytes with bookkeeping.
    pub(crate) fn held(&self) -> usize {
        self.open().map_or(0, |open| open.receive.held())
    }

    /// How it stands with the reserve of memory.
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.open()?.receive.standing()
    }

    /// It has the turn to take memory beyond its share. Says what the slowest path takes for a round trip, if that is known.
    pub(crate) fn begin_turn(&mut self) -> Option<Duration> {
        let Phase::Open(open) = &mut self.phase else { return None };
        open.receive.begin_turn();
        open.paths.longest_round_trip()
    }

    /// It has the turn no more.
    pub(crate) fn end_turn(&mut self, lost: bool) {
        if let Phase::Open(open) = &mut self.phase {
            open.receive.end_turn(lost);
        }
    }

    /// Drops what lies beyond gaps.
    pub(crate) fn drop_held(&mut self) {
        if let Phase::Open(open) = &mut self.phase {
            open.receive.drop_held();
        }
    }

    /// Ends for want of memory, if that gives any back.
    pub(crate) fn give_up_for_memory(&mut self, now: Instant) {
        if self.holds_since().is_some() {
            self.conclude(now, Err(Ending::abort(CloseReason::OutOfResource, &[Cause::OutOfResource])));
        }
    }
}
