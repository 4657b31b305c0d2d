use super::{PrimaryChange, Reaction};
use crate::interface::PathId;
use crate::send::Sender;

/// What is in flight on the old path is retransmitted without waiting for its T3-rtx, as if that had expired now: m-SCTP+ of
/// the paper d10 (section II.C). Right after a hard handover, and a waste when the old path still delivers.
#[derive(Debug)]
pub(super) struct RetransmitAtOnce;

impl PrimaryChange for RetransmitAtOnce {
    fn on_changed(&mut self, _sender: &Sender, old: PathId, _new: PathId) -> Reaction {
        Reaction::GiveUp(old)
    }
}
