use super::{Offer, Scheduler};
use crate::interface::PathId;

/// The path with the shortest round trip that has room in its window.
#[derive(Debug)]
pub(in crate::send) struct LowestRoundTrip;

impl Scheduler for LowestRoundTrip {
    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        offer.cheapest(&self.in_use(offer.paths), |path| offer.round_trip(path))
    }
}
