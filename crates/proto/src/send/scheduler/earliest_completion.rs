use core::time::Duration;

use super::{NANOS, Offer, Scheduler};
use crate::interface::PathId;
use crate::path::PathIds;

/// The path where the next packet arrives first, even if it has to wait for room there.
///
/// A path is passed over although it has room, while quicker ones have none, in two cases:
///
/// - all that waits to be sent arrives by the quicker paths before a packet would by this one (ECF, earliest completion first);
/// - what this one takes long for would fill the buffers of both ends with what quicker paths bring meanwhile and the receiver cannot deliver, so that those
///   would have to wait for it (BLEST, blocking estimation).
///
/// Both are judged by round trips and capacities ([`Offer::capacity`]). The quickest path is never passed over, and what keeps it from
/// sending is its own flight or its pace, both of which end.
#[derive(Debug)]
pub(in crate::send) struct EarliestCompletion;

impl Scheduler for EarliestCompletion {
    fn takes(&self, offer: &Offer<'_>, path: PathId) -> bool {
        let paths = self.in_use(offer.paths);
        paths.contains(&path) && !is_passed_over(offer, &paths, path)
    }

    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        let paths = self.in_use(offer.paths);
        let taken: PathIds =
            paths.iter().copied().filter(|&path| !is_passed_over(offer, &paths, path)).collect();
        offer.cheapest(&taken, |path| offer.round_trip(path))
    }
}

/// Whether quicker paths are worth waiting for.
fn is_passed_over(offer: &Offer<'_>, paths: &[PathId], path: PathId) -> bool {
    let round_trip = offer.round_trip(path);
    let (mut capacity, mut slowest) = (0_u64, Duration::ZERO);
    for &other in paths.iter().filter(|&&other| other != path) {
        let other_takes = offer.round_trip(other);
        if (other_takes, other) < (round_trip, path) {
            capacity = capacity.saturating_add(offer.capacity(other));
            slowest = slowest.max(other_takes);
        }
    }
    if capacity == 0 {
        return false;
    }
    let brought_meanwhile = u128::from(capacity).saturating_mul(round_trip.as_nanos()) / NANOS;
    if brought_meanwhile.saturating_mul(BLOCKING_MARGIN.0) / BLOCKING_MARGIN.1 > offer.room as u128 {
        return true;
    }
    let waiting = offer.streams.queued() as u128 * NANOS / u128::from(capacity);
    slowest.as_nanos() + waiting < round_trip.as_nanos()
}

/// The quicker paths may bring more than expected, as their windows grow.
const BLOCKING_MARGIN: (u128, u128) = (5, 4);
