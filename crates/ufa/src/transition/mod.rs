//! What a correspondent's SCTP does when message 7 comes: the options of paper d10, section V.B. One per file.

mod ufa;
mod ufa_plus;
mod ufa_plus_plus;

use core::fmt::Debug;

use whimbrel_proto::{Config, PathShape, PathVerification, RetransmissionPath};

pub use ufa::Ufa;
pub use ufa_plus::UfaPlus;
pub use ufa_plus_plus::UfaPlusPlus;

/// How an association goes from the old address of the terminal to the new one.
pub trait Transition: Debug + Send {
    /// Sets up the correspondent's SCTP for it: what becomes of data in flight is a rule of the association ([`Config::primary_change`]).
    fn configure(&self, config: &mut Config);

    /// What the path to the new address begins with; `None` is what all paths begin with.
    fn shape(&self, bdp: Option<u64>) -> Option<PathShape>;

    /// What becomes of the old address.
    fn old_address(&self) -> OldAddress;
}

/// When the old address of the terminal leaves the association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OldAddress {
    /// With message 7.
    GoesAtOnce,
    /// When what was in flight to it has had time to be repaired.
    Lingers,
}

/// Sets SCTP up as the paper's hosts have it with each of the options: the network vouches for every address, which carries data without having been asked,
/// and only one can be reached at a time, so that retransmissions go to the primary one (section V.C). For closed networks and for the lab.
pub fn trusting(config: &mut Config) {
    config.retransmission.path = RetransmissionPath::Primary;
    config.verification = PathVerification::Omitted;
}
