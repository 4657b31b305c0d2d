//! How far a message has come that is being built.

use super::Reassembly;

impl Reassembly {
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
