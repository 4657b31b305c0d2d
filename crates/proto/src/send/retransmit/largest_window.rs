use super::{Offer, RetransmissionRule, choices};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// The path with the largest congestion window (RTX-CWND).
#[derive(Debug)]
pub(in crate::send) struct LargestWindow;

impl RetransmissionRule for LargestWindow {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let window = |path: &PathId| offer.flow(*path).map(|flow| flow.congestion.cwnd());
        choices(offer, lost_on, loss).into_iter().max_by_key(window)
    }
}
