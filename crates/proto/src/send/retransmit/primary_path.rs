use super::{Offer, RetransmissionRule};
use crate::interface::PathId;
use crate::path::control_path;
use crate::send::chunk::Loss;

/// Where new data goes: alternates exist only while a mobile host changes networks (paper c04 section 2.2).
#[derive(Debug)]
pub(in crate::send) struct PrimaryPath;

impl RetransmissionRule for PrimaryPath {
    fn path(&self, offer: &Offer<'_>, _lost_on: PathId, _loss: Loss) -> Option<PathId> {
        control_path(offer.paths)
    }
}
