use super::{Offer, RetransmissionRule, choices};
use crate::interface::PathId;
use crate::send::chunk::Loss;

/// The path that loses the smallest share of its packets (RTX-LOSSRATE); where it was lost if others lose as much.
#[derive(Debug)]
pub(in crate::send) struct LeastLoss;

impl RetransmissionRule for LeastLoss {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let rate = |path: &PathId| {
            (offer.flow(*path).map_or(0, |flow| flow.beside().loss_rate.per_million()), *path != lost_on)
        };
        choices(offer, lost_on, loss).into_iter().min_by_key(rate)
    }
}
