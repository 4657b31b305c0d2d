use super::PrimaryChange;
use crate::association::context::Context;
use crate::association::open::Open;
use crate::interface::PathId;

/// New data takes the new path; what was sent on the old one is repaired as always (RFC 9260 §6.4).
#[derive(Debug)]
pub(crate) struct Standard;

impl PrimaryChange for Standard {
    fn on_changed(&mut self, _open: &mut Open, _context: &mut Context<'_>, _old: PathId) {}
}
