use whimbrel_proto::{Config, PathShape, PrimaryChangeRule};

use super::{OldAddress, Transition};

/// UFA: the addresses change, and nothing else. What was lost is found by SACKs of new data, or by the timer of the old path, on which it therefore
/// still counts as in flight for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ufa;

impl Transition for Ufa {
    fn configure(&self, config: &mut Config) {
        config.primary_change = PrimaryChangeRule::Standard;
    }

    fn shape(&self, _bdp: Option<u64>) -> Option<PathShape> {
        None
    }

    fn old_address(&self) -> OldAddress {
        OldAddress::Lingers
    }
}
