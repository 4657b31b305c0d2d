use super::{Offer, RetransmissionRule, choices};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// The path where it arrives first: everything that was sent after it waits for it at the receiver. A path whose window is full has room after about a round trip's share
/// of its window, which is nothing beside the round trip itself; so that the shortest round trip it is, and where it was lost if another
/// takes no less.
#[derive(Debug)]
pub(in crate::send) struct Soonest;

impl RetransmissionRule for Soonest {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let cost = |path: &PathId| (offer.round_trip(*path), *path != lost_on);
        choices(offer, lost_on, loss).into_iter().min_by_key(cost)
    }
}
