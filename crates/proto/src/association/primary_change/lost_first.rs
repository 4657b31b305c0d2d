use super::{PrimaryChange, Reaction};
use crate::interface::PathId;
use crate::path::Paths;
use crate::send::Sender;
use crate::send::turn::Permit;

/// Everything unacknowledged is resent on the new path before any new packet, so that no fast recovery freezes its
/// window: UFA+ of the paper d10 (section III.C), with retransmissions on the primary path only.
///
/// Other than with `RetransmitAtOnce`, that goes for what was sent on any path, and new data waits until the last of it has been
/// sent, wherever there would be room for it.
#[derive(Debug, Default)]
pub(super) struct LostFirst {
    resending: bool,
}

impl PrimaryChange for LostFirst {
    fn on_changed(&mut self, sender: &Sender, _old: PathId, new: PathId) -> Reaction {
        self.resending = sender.has_lost() || sender.is_in_flight_elsewhere(new);
        Reaction::GiveUpOthers
    }

    fn on_sack(&mut self, sender: &Sender) -> Reaction {
        self.resending &= sender.has_lost();
        Reaction::None
    }

    fn permits(&self, _paths: &Paths, sender: &Sender) -> Permit {
        if self.resending && sender.has_lost() { Permit::Retransmissions } else { Permit::Everything }
    }
}
