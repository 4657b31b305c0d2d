use whimbrel_proto::{Config, PathShape, PathVerification, PrimaryChangeRule, RetransmissionPath};

use super::{OldAddress, Transition};

/// UFA: the addresses change, and nothing else. What was lost is found by SACKs of new data, or by the timer of the old path, on which it therefore
/// still counts as in flight for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ufa;

impl Transition for Ufa {
    fn configure(&self, config: &mut Config) {
        config.primary_change = PrimaryChangeRule::Standard;
        trusting(config);
    }

    fn shape(&self, _bdp: Option<u64>) -> Option<PathShape> {
        None
    }

    fn old_address(&self) -> OldAddress {
        OldAddress::Lingers
    }
}

/// Of all options: the network vouches for the new address, and there is only one that can be reached (section V.C of the paper).
pub(super) fn trusting(config: &mut Config) {
    config.retransmission.path = RetransmissionPath::Primary;
    config.verification = PathVerification::Omitted;
}
