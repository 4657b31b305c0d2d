use super::{Permit, PrimaryChange};
use crate::association::context::Context;
use crate::association::open::Open;
use crate::interface::PathId;
use crate::path::choice::{PrimaryOnly, RetransmissionChoice};

/// Everything unacknowledged is resent on the new path before any new packet, so that no fast recovery freezes its
/// window: UFA+ of the paper d10 (section III.C).
///
/// Other than with `RetransmitAtOnce`, that goes for what was sent on any path, nothing of it leaves by a third path, and new data
/// waits until the last of it has been sent, wherever there would be room for it.
#[derive(Debug, Default)]
pub(crate) struct LostFirst {
    resending: bool,
}

impl PrimaryChange for LostFirst {
    fn on_changed(&mut self, open: &mut Open, context: &mut Context<'_>, _old: PathId) {
        let primary = open.paths.primary();
        let others: Vec<PathId> = open.paths.iter().map(|path| path.id).filter(|&id| id != primary).collect();
        for id in others {
            open.take_for_lost(context, id);
        }
        self.resending = open.outstanding.has_lost();
    }

    fn on_sack(&mut self, open: &mut Open, _context: &mut Context<'_>) {
        self.resending &= open.outstanding.has_lost();
    }

    fn permits(&self, open: &Open) -> Permit {
        if self.resending && open.outstanding.has_lost() {
            Permit::Retransmissions
        } else {
            Permit::Everything
        }
    }

    fn retransmissions(&self) -> Box<dyn RetransmissionChoice> {
        Box::new(PrimaryOnly)
    }
}
