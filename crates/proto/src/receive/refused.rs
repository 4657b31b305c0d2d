//! What there is no room for (RFC 9260 §6.2, §6.9).

use super::acknowledgement::Urgency;
use super::{DataOutcome, Receive};

const BEFORE_THEIR_TURN: &str = "messages before their turn in their stream fill the window";

impl Receive {
    /// There is no room for `len` bytes at `position`: what that means, and what can be done about it.
    #[cold]
    pub(super) fn refused(&mut self, position: u64, len: usize) -> DataOutcome {
        if position == self.tsns.cumulative() + 1 {
            if self.reassembly.is_too_large(len, self.window.buffer()) {
                return DataOutcome::TooLarge { limit: self.window.buffer() };
            }
            // Only the user can make room for this chunk, so it gets what there is of the message (RFC 9260 §6.9).
            self.reassembly.deliver_unfinished();
            let items = self.reassembly.items();
            self.window.charge(items);
            let (droppable, bytes) = self.reassembly.droppable();
            let has_room = self.window.has_room_without(bytes, droppable, len, items);
            if !has_room && self.window.is_all_here() && self.reassembly.is_stuck() {
                return self.violated(BEFORE_THEIR_TURN);
            }
            // Others have taken the memory. Who holds only what can be read will get it back when that has been read.
            let waits = self.reassembly.is_held_up() || self.window.used() == 0;
            if has_room && waits && self.window.is_short_of_memory(len) {
                self.window.share_mut().wait();
            }
        }
        // RFC 9260 §6.2: whoever drops DATA MUST send a SACK at once.
        self.acknowledgement.on_chunk(Urgency::Immediate);
        DataOutcome::NoRoom
    }
}

#[cfg(test)]
#[path = "refused_tests.rs"]
mod tests;
