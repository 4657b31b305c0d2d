use super::{Advance, Growth};
use crate::interface::PathId;

/// Each SACK that newly acknowledges something (RFC 9260 §7.2.1).
#[derive(Debug)]
pub(super) struct Acknowledged;

impl Growth for Acknowledged {
    fn grows(&mut self, _path: PathId, _advance: &Advance<'_>) -> bool {
        true
    }
}
