use super::{Offer, Scheduler};
use crate::interface::PathId;

/// The path with the shortest round trip that has room, and copies on the others (`send/copies.rs`): what one of them loses or keeps back comes by
/// another.
#[derive(Debug)]
pub(in crate::send) struct Redundant;

impl Scheduler for Redundant {
    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        offer.cheapest(&self.in_use(offer.paths), |path| offer.round_trip(path))
    }
}
