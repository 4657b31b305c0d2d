use super::PrimaryChange;
use crate::association::context::Context;
use crate::association::open::Open;
use crate::interface::PathId;

/// What is in flight on the old path is retransmitted without waiting for its T3-rtx, as if that had expired now: m-SCTP+ of
/// the paper d10 (section II.C). Right after a hard handover, and a waste when the old path still delivers.
#[derive(Debug)]
pub(crate) struct RetransmitAtOnce;

impl PrimaryChange for RetransmitAtOnce {
    fn on_changed(&mut self, open: &mut Open, context: &mut Context<'_>, old: PathId) {
        open.take_for_lost(context, old);
    }
}
