use super::{NANOS, Offer, Scheduler};
use crate::interface::PathId;

/// Fastest path first (paper b08 section 4.3.2): of the paths with room the one that has sent first what is in flight there and the next packet,
/// the least R = (O + P) / C. The delay of the path counts for nothing. C is what packet trains have told, as in the paper, and what the controller
/// knows where there are none.
#[derive(Debug)]
pub(in crate::send) struct FastestPathFirst;

impl Scheduler for FastestPathFirst {
    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        offer.cheapest(&self.in_use(offer.paths), |path| drained_after(offer, path))
    }
}

/// R, in nanoseconds.
fn drained_after(offer: &Offer<'_>, path: PathId) -> u128 {
    let packet = offer.paths.get(path).map_or(0, |path| path.pmdcs());
    let bytes = (offer.outstanding.flight_size(path) + packet) as u128;
    bytes * NANOS / u128::from(capacity(offer, path).max(1))
}

/// In bytes a second.
fn capacity(offer: &Offer<'_>, path: PathId) -> u64 {
    let told = offer.paths.get(path).and_then(|path| path.supervision.estimates().capacity.estimate());
    told.map_or_else(|| offer.capacity(path), |told| told.rate / 8)
}
