use super::{NANOS, Offer, Scheduler};
use crate::interface::PathId;

/// Fastest path first (paper b08 section 4.3.2): of the paths with room the one that has sent first what is in flight there and the next packet,
/// the least R = (O + P) / C. The delay of the path counts for nothing.
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
    bytes * NANOS / u128::from(offer.capacity(path).max(1))
}
