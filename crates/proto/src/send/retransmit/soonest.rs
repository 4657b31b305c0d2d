use super::{Offer, RetransmissionRule, choices};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// The path where it arrives first, as everything that was sent after it waits for it at the receiver: the one with the shortest round trip, and where it
/// was lost if another takes no less. A window that is full does not count: what is lost goes first, and some room comes with each SACK.
#[derive(Debug)]
pub(in crate::send) struct Soonest;

impl RetransmissionRule for Soonest {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let bytes = offer.outstanding.lost_payload();
        let cost = |path: &PathId| (offer.arrival(*path, bytes), *path != lost_on);
        choices(offer, lost_on, loss).into_iter().min_by_key(cost)
    }
}
