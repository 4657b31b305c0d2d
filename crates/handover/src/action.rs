use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_proto::PathId;

/// What a policy wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Tell the peer about one more address of ours (RFC 5061 §4.2.1).
    AddAddress(SocketAddr),
    /// Take one of our addresses out of the association (RFC 5061 §4.2.2).
    DeleteAddress(IpAddr),
    /// Ask the peer to send to this address of ours (RFC 5061 §4.2.4).
    AskPrimary(IpAddr),
    /// Make this path our own primary path.
    UsePath(PathId),
    /// Install congestion state on a path; what is `None` stays.
    ShapePath {
        /// The path whose congestion state is replaced.
        path: PathId,
        /// Congestion window, bytes.
        cwnd: Option<usize>,
        /// Slow-start threshold, bytes.
        ssthresh: Option<usize>,
        /// Retransmission timeout.
        rto: Option<Duration>,
    },
    /// What is in flight on this path is lost: retransmit it now.
    RetransmitLost(PathId),
}

/// An action and why it is taken, for the user to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// What is to be done.
    pub action: Action,
    /// Why it is taken.
    pub reason: Reason,
}

/// Why a policy decided as it did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// A local address has become usable.
    AddressAcquired,
    /// A local address is gone.
    AddressLost,
    /// The path in use does not work any more.
    PathFailed,
    /// The layer below warned that the link will go down.
    GoingDown,
    /// The signal is weak, or will be in a moment.
    SignalFading,
    /// A round trip takes far longer on the path in use than on another.
    Slow,
    /// The path in use carries less than there is to send, and another one has carried that.
    Thin,
    /// Too many packets are lost on the path in use.
    Lossy,
    /// The path in use is congested, and another may carry more.
    Congested,
    /// Another network is faster.
    Faster,
    /// Another network is preferred by its rank, cost or kind.
    Preferred,
    /// It is where the peer wants to be sent to, and as good as any other again.
    PeersChoice,
    /// What the peer sends should come where we send from.
    BothWays,
    /// The network told us to.
    Selected,
}

impl Reason {
    /// Whether the path in use is to blame, rather than our address or its network.
    pub(crate) fn is_of_path(self) -> bool {
        matches!(self, Self::Slow | Self::Thin | Self::Lossy)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddressAcquired => "the address has become usable",
            Self::AddressLost => "the old address is gone",
            Self::PathFailed => "the path in use does not work any more",
            Self::GoingDown => "the link will soon go down",
            Self::SignalFading => "the signal is fading",
            Self::Slow => "packets take far longer on the path in use",
            Self::Thin => "the path in use carries less than there is to send",
            Self::Lossy => "too much is lost on the path in use",
            Self::Congested => "the path in use is congested",
            Self::Faster => "the other network is faster",
            Self::Preferred => "the other network is preferred",
            Self::PeersChoice => "the peer prefers it, and nothing speaks against it any more",
            Self::BothWays => "it is where this host sends from",
            Self::Selected => "the network said so",
        })
    }
}
