use core::cmp::Reverse;
use core::time::Duration;

use super::{NANOS, Offer, Scheduler};
use crate::interface::PathId;
use crate::path::PathIds;
use crate::send::flow::Flow;

/// The path where the next packet arrives first, even if it has to wait for room there.
///
/// Paths take part as long as the buffers of both ends hold what all of them carry while a packet goes by the slowest ([`affordable`]). Of those that
/// do, one is passed over although it has room, while quicker ones have none, in two cases:
///
/// - all that waits to be sent arrives by the quicker paths before a packet would by this one (ECF, earliest completion first);
/// - what quicker paths bring while a packet goes by this one finds no room in the buffers any more, as the receiver cannot deliver it, so that they
///   would have to wait for this one (BLEST, blocking estimation).
///
/// All is judged by round trips and capacities ([`Offer::capacity`]). The quickest path is never passed over, and what keeps it from
/// sending is its own flight or its pace, both of which end.
#[derive(Debug)]
pub(in crate::send) struct EarliestCompletion;

impl Scheduler for EarliestCompletion {
    fn takes(&self, offer: &Offer<'_>, path: PathId) -> bool {
        let paths = affordable(offer, self.in_use(offer.paths));
        paths.contains(&path) && !is_passed_over(offer, &paths, path)
    }

    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        let paths = affordable(offer, self.in_use(offer.paths));
        let taken: PathIds =
            paths.iter().copied().filter(|&path| !is_passed_over(offer, &paths, path)).collect();
        offer.cheapest(&taken, |path| offer.round_trip(path))
    }
}

/// Those of the `paths` that the buffers are large enough for: the one that carries most with these buffers, and others, the quickest first, as long as all that they carry
/// in the time of the longest round trip has room. Where buffers are too small for two paths, a loss on the one stops the other.
fn affordable(offer: &Offer<'_>, mut paths: PathIds) -> PathIds {
    if paths.len() < 2 {
        return paths;
    }
    let needed = |capacity: u64, round_trip: Duration| {
        let bytes = u128::from(capacity).saturating_mul(round_trip.as_nanos()) / NANOS;
        bytes.saturating_mul(MARGIN.0) / MARGIN.1
    };
    let carries = |path: PathId| {
        let by_buffers = offer.buffers as u128 * NANOS / offer.round_trip(path).as_nanos().max(1);
        u128::from(offer.capacity(path)).min(by_buffers)
    };
    paths.sort_by_key(|&path| (offer.round_trip(path), path));
    let best = paths.iter().copied().max_by_key(|&path| (carries(path), Reverse(path)));
    let mut chosen: PathIds = best.into_iter().collect();
    let (mut capacity, mut longest) = (0_u64, Duration::ZERO);
    for &path in best.iter().chain(paths.iter().filter(|&&path| Some(path) != best)) {
        let (with, round_trip) =
            (capacity.saturating_add(offer.capacity(path)), longest.max(offer.round_trip(path)));
        let fits = needed(with, round_trip) <= offer.buffers as u128;
        if fits || Some(path) == best {
            (capacity, longest) = (with, round_trip);
        }
        if fits && Some(path) != best {
            chosen.push(path);
        }
    }
    chosen
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
    let proved = offer.flow(path).map_or(0, Flow::capacity);
    let adds_little = proved.saturating_mul(LITTLE) < capacity;
    let takes = if adds_little { offer.longest_round_trip(path) } else { round_trip };
    let brought_meanwhile = u128::from(capacity).saturating_mul(takes.as_nanos()) / NANOS;
    if brought_meanwhile.saturating_mul(MARGIN.0) / MARGIN.1 > offer.room as u128 {
        return true;
    }
    if offer.streams.filling.lasted >= round_trip {
        return false;
    }
    let waiting = offer.streams.queued() as u128 * NANOS / u128::from(capacity);
    slowest.as_nanos() + waiting < round_trip.as_nanos()
}

/// A path that carries less than this part of what quicker ones do is not worth that they wait for it if it takes longer than it does as a rule.
pub(in crate::send) const LITTLE: u64 = 8;

/// Paths may bring more than expected, as their windows grow.
const MARGIN: (u128, u128) = (5, 4);
