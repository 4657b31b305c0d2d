//! How far a message has come that is being built.

use core::ops::Range;

use super::Reassembly;

impl Reassembly {
    /// The positions of what lies beyond gaps and can be dropped, in ascending order.
    pub(in crate::receive) fn held(&self) -> impl Iterator<Item = Range<u64>> {
        self.held.ranges()
    }

    /// Whether something is here with no TSN missing that the user gets only once more has come.
    pub(in crate::receive) fn is_held_up(&self) -> bool {
        self.built_bytes() > 0 || !self.early.is_empty()
    }

    /// What is here of the message that is being built.
    pub(in crate::receive) fn built_bytes(&self) -> usize {
        self.building.as_ref().map_or(0, |building| building.payload.len())
    }

    /// How many messages have been built of fragments.
    pub(in crate::receive) fn built(&self) -> u64 {
        self.totals.built
    }
}
