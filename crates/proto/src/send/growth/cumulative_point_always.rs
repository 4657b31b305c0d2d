use super::{Advance, Growth};
use crate::interface::PathId;

/// As [`CumulativePoint`](super::CumulativePoint), and where one path at a time carries data, too: RFC 4960 §7.2.1 to the letter. While a hole is
/// repaired, and before Fast Recovery has begun, the window rests.
#[derive(Debug)]
pub(super) struct CumulativePointAlways;

impl Growth for CumulativePointAlways {
    fn grows(&mut self, _path: PathId, advance: &Advance<'_>) -> bool {
        advance.cumulative
    }

    fn grows_on_one_path(&self, cumulative: bool) -> bool {
        cumulative
    }
}
