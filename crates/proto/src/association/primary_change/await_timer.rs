use super::{PrimaryChange, Reaction};
use crate::interface::PathId;
use crate::path::Paths;
use crate::send::Sender;
use crate::send::turn::Permit;

/// What a timer has called lost before the change goes out when the next T3-rtx expires or a SACK comes, as senders do that
/// RFC 9260 §6.3.3 E3 takes at its word: the rest is sent "as soon as cwnd allows (normally, when a SACK chunk arrives)". Plain m-SCTP of
/// the paper d10 (section II.B), whose handover delay comes of it.
#[derive(Debug, Default)]
pub(super) struct AwaitTimer {
    waiting: bool,
}

impl PrimaryChange for AwaitTimer {
    fn on_changed(&mut self, sender: &Sender, _old: PathId, new: PathId) -> Reaction {
        // Without anything in flight no timer runs that could be waited for.
        self.waiting = sender.has_lost() && sender.is_in_flight_elsewhere(new);
        Reaction::None
    }

    fn on_sack(&mut self, _sender: &Sender) -> Reaction {
        self.waiting = false;
        Reaction::None
    }

    fn on_timeout(&mut self) {
        self.waiting = false;
    }

    fn permits(&self, paths: &Paths, sender: &Sender) -> Permit {
        // The old path may be gone, and its timer with it.
        let timer_runs = sender.is_in_flight_elsewhere(paths.primary());
        if self.waiting && timer_runs { Permit::Nothing } else { Permit::Everything }
    }
}
