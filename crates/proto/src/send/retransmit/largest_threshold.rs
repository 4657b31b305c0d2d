use super::{Offer, RetransmissionRule, choices};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// The path with the largest slow-start threshold (RTX-SSTHRESH): the window that it was last found to carry.
#[derive(Debug)]
pub(in crate::send) struct LargestThreshold;

impl RetransmissionRule for LargestThreshold {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let threshold = |path: &PathId| offer.flow(*path).map(|flow| flow.congestion.ssthresh());
        choices(offer, lost_on, loss).into_iter().max_by_key(threshold)
    }
}
