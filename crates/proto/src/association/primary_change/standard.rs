use super::{PrimaryChange, Reaction};
use crate::interface::PathId;
use crate::send::Sender;

/// New data takes the new path; what was sent on the old one is repaired as always (RFC 9260 §6.4).
#[derive(Debug)]
pub(super) struct Standard;

impl PrimaryChange for Standard {
    fn on_changed(&mut self, _sender: &Sender, _old: PathId, _new: PathId) -> Reaction {
        Reaction::None
    }
}
