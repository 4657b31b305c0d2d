use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::LinkFact;
use whimbrel_proto::{PathId, PathState, PeerAddressChange};

/// Something a policy may want to know.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fact {
    /// The association is up; the first fact of all. Told again after a restart, and when it turns out whether addresses can change.
    Begun,
    /// A change of this host's links, as [`Links::changes_to`](whimbrel_machine::Links::changes_to) has found it.
    Link(LinkFact),
    /// A path was confirmed, failed, became potentially failed, or recovered.
    Path {
        /// The path that has changed.
        path: PathId,
        /// Its new state.
        state: PathState,
    },
    /// New data goes out on another path than before, or another path was made primary. That may have been the peer's wish
    /// (RFC 5061 §5.4), which knows nothing of our links.
    PathInUse {
        /// The path that carries new data from now on.
        path: PathId,
    },
    /// What a path is worth has changed; the view says how much that is now.
    PathQuality {
        /// The path that has changed.
        path: PathId,
    },
    /// What a path can carry, or carries, is known better, or it is congested: T3-rtx has expired or Fast Recovery has begun; the view says which. Only with
    /// [`HeartbeatForm::Train`](whimbrel_proto::HeartbeatForm::Train).
    PathEstimates {
        /// The path that has changed.
        path: PathId,
    },
    /// A path is no more.
    PathGone {
        /// The path that is no more.
        path: PathId,
    },
    /// The peer has answered an [`Action::AddAddress`](crate::Action::AddAddress).
    Added {
        /// Our address.
        address: SocketAddr,
        /// Whether it agreed.
        accepted: bool,
    },
    /// The peer has answered an [`Action::DeleteAddress`](crate::Action::DeleteAddress).
    Deleted {
        /// Our address.
        address: IpAddr,
        /// Whether it agreed.
        accepted: bool,
    },
    /// The peer has answered an [`Action::AskPrimary`](crate::Action::AskPrimary).
    PrimaryAsked {
        /// Our address.
        address: IpAddr,
        /// Whether it agreed.
        accepted: bool,
    },
    /// The peer has changed its addresses (RFC 5061 §5.2).
    PeerAddress {
        /// The address; its port is the UDP encapsulation port.
        address: SocketAddr,
        /// What became of it.
        change: PeerAddressChange,
    },
    /// The deadline has come that the policy asked for.
    Deadline,
}
