use super::{Offer, RetransmissionRule, choices};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// The first path that can take it now (RTX-ASAP): of those with room in their windows the one with the shortest round trip, instead of any.
#[derive(Debug)]
pub(in crate::send) struct WithRoom;

impl RetransmissionRule for WithRoom {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let choices = choices(offer, lost_on, loss);
        let with_room = choices.iter().copied().filter(|&path| offer.lets_out(path));
        // If none has room, nothing leaves, wherever it belongs.
        with_room.min_by_key(|&path| offer.round_trip(path)).or(choices.last().copied())
    }
}
