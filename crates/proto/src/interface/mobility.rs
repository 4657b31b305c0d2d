//! Words for addresses that come and go (RFC 5061).

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

/// A change to our addresses that the peer is asked to carry out (RFC 5061 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AddressChange {
    /// Add this local address to the association. Its port is our UDP encapsulation port there, 0 for raw IP. The
    /// address must be up ([`Endpoint::address_up`](crate::Endpoint::address_up)).
    ///
    /// The unspecified address (`0.0.0.0`, `::`) means "the address this packet comes from", for hosts behind a NAT; who
    /// is on the path can then choose the address (RFC 5061 §6).
    Add(SocketAddr),
    /// Take this local address out of the association, never the last one. The unspecified address means all but the one
    /// the ASCONF leaves from.
    Delete(IpAddr),
    /// Ask the peer to send to this address of ours. The unspecified address means the one the ASCONF leaves from.
    SetPrimary(IpAddr),
}

/// A change of addresses that both ends have been told of by somebody they trust, and not by ASCONF (paper d10, section V.A: SIP). Nothing
/// is sent because of it, and nobody is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AgreedChange {
    /// This local address belongs to the association. It need not be up yet; its port is our UDP encapsulation port, 0 for raw IP.
    AddOwn(SocketAddr),
    /// This local address belongs to it no more. The last one stays.
    DeleteOwn(IpAddr),
    /// The peer has this address, too. Whether it must answer a heartbeat before it carries data is [`Config::verification`](crate::Config::verification)'s.
    AddPeer(SocketAddr),
    /// As `AddPeer`, and data may go there at once, before a heartbeat has been answered: so many bytes in all, packets of SCTP with their headers. Once these are
    /// used up, it must answer as any other; and until it has, nobody can vouch for another address. For an address that somebody whom the user trusts names
    /// (paper d10, section V.A).
    AddVouchedPeer {
        /// The address; its port is the peer's UDP encapsulation port, 0 for raw IP.
        address: SocketAddr,
        /// How much may go there. Less than a packet is nothing.
        bytes: usize,
    },
    /// The peer has this address no more. The last one to which a path leads stays.
    DeletePeer(IpAddr),
}

/// Why an [`AddressChange`] was not carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressChangeError {
    /// The association is unknown, not yet up, or gone.
    #[error("the association is not up")]
    Closed,
    /// Addresses of this association cannot change.
    #[error("addresses of this association cannot change: {0}")]
    Static(StaticReason),
    /// The shutdown has gone too far for ASCONF chunks (RFC 5061 §5.1.1 C4).
    #[error("the association is shutting down")]
    ShuttingDown,
    /// As many changes wait as [`DarConfig::queue`](crate::DarConfig::queue) allows.
    #[error("too many address changes are waiting")]
    QueueFull,
    /// An address to be added must be up and a unicast address; one to be deleted or made primary must be part of the
    /// association by then.
    #[error("the address is not one of ours, or cannot be used")]
    NotOurs,
    /// The last address of an association cannot be deleted (RFC 5061 §5.3 F5).
    #[error("the last address cannot be deleted")]
    LastAddress,
    /// The peer knows the address by another one, and the only deletion that can be asked for would take away addresses that
    /// are to stay (RFC 6951 §5.7, RFC 5061 §4.2.2).
    #[error("an address behind a NAT cannot be deleted while several others stay")]
    CannotBeNamed,
    /// The peer has refused, with this cause code (RFC 5061 §4.3; [`cause_name`](crate::cause_name)).
    #[error("the peer has refused: {}", crate::cause_name(*.0))]
    RefusedByPeer(u16),
    /// The peer refused an earlier change of the same chunk, and this one with it (RFC 5061 §5.1 A7).
    #[error("an earlier change was refused")]
    EarlierRefused,
    /// The address went down before the peer had answered. It is known to the peer by another one, so that what the peer has done is not
    /// known (RFC 6951 §5.7), or the change waited while too many others did.
    #[error("the address was lost before the peer had answered")]
    AddressLost,
    /// The association ended or was restarted before the peer had answered.
    #[error("the association ended or was restarted")]
    Abandoned,
}

/// Whether the addresses of an association can change while it lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mobility {
    /// Both sides understand ASCONF and authenticate it.
    Dynamic,
    /// The addresses stay as the handshake has them: multihoming without movement.
    Static(StaticReason),
}

/// Why the addresses of an association cannot change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum StaticReason {
    /// [`DarConfig::mode`](crate::DarConfig::mode) says so.
    #[error("dynamic address reconfiguration is switched off")]
    SwitchedOff,
    /// The peer does not understand ASCONF (RFC 5061).
    #[error("the peer does not support dynamic address reconfiguration")]
    PeerLacksAsconf,
    /// The peer cannot authenticate chunks (RFC 4895), or not those that matter.
    #[error("the peer does not support authentication")]
    PeerLacksAuth,
}

/// What has become of an address of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PeerAddressChange {
    /// It belongs to the association; it carries data once a heartbeat has been answered there.
    Added,
    /// It does not belong to the association any more.
    Deleted,
    /// The peer wants to be sent to there. Done at once, or as soon as a path to it is confirmed.
    MadePrimary,
}

/// Congestion state to install on a path; `None` leaves a value as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathShape {
    /// Congestion window, bytes.
    pub cwnd: Option<usize>,
    /// Slow-start threshold, bytes.
    pub ssthresh: Option<usize>,
    /// Retransmission timeout, kept within RTO.Min and RTO.Max; the next measurement adapts it.
    pub rto: Option<Duration>,
}
