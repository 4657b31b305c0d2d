use super::{Offer, RetransmissionRule, choices, works};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// Where it was lost, as long as nothing speaks against that path (RTX-SAME).
#[derive(Debug)]
pub(in crate::send) struct SamePath;

impl RetransmissionRule for SamePath {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        if works(offer, lost_on) { Some(lost_on) } else { choices(offer, lost_on, loss).first().copied() }
    }
}
