use whimbrel_proto::{Config, PathShape, PrimaryChangeRule};

use super::{OldAddress, Transition};

/// UFA+: what is not acknowledged goes out on the new path before anything new, so that no Fast Recovery freezes its window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UfaPlus;

impl Transition for UfaPlus {
    fn configure(&self, config: &mut Config) {
        config.primary_change = PrimaryChangeRule::LostFirst;
    }

    fn shape(&self, _bdp: Option<u64>) -> Option<PathShape> {
        None
    }

    fn old_address(&self) -> OldAddress {
        OldAddress::GoesAtOnce
    }
}
