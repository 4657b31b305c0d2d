use super::{Advance, Growth};
use crate::interface::PathId;

/// The Cumulative TSN Ack Point has to advance (RFC 4960 §7.2.1).
#[derive(Debug)]
pub(super) struct CumulativePoint;

impl Growth for CumulativePoint {
    fn grows(&mut self, _path: PathId, advance: &Advance<'_>) -> bool {
        advance.cumulative
    }
}
