//! What can go wrong, one type per operation. Messages say what to do about it.

use core::net::{IpAddr, SocketAddr};
use std::io;

use whimbrel_proto::{CloseReason, ConfigError, Message, SendError};

/// Why an endpoint could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// No address was given.
    #[error("an endpoint needs at least one local address")]
    NoAddress,
    /// An address was given twice.
    #[error("address {0} is given twice")]
    Duplicate(IpAddr),
    /// The addresses have different UDP ports. One stack has one encapsulation port (RFC 6951 §5.1).
    #[error(
        "the addresses have different UDP ports ({first} and {other}); an endpoint has one port (RFC 6951), so use the same for all"
    )]
    DifferentPorts {
        /// Port of the first address.
        first: u16,
        /// Another port found.
        other: u16,
    },
    /// No interface of this machine has the address.
    #[error("address {0} is not on this machine; `ip address` shows those that are")]
    AddressNotHere(IpAddr),
    /// Someone else has the UDP port.
    #[error(
        "UDP port {port} of {address} is in use, perhaps by another SCTP stack; stop that one, or choose another port (0 picks a free one)"
    )]
    PortInUse {
        /// Local address.
        address: IpAddr,
        /// UDP port.
        port: u16,
    },
    /// No port was free on all addresses at once.
    #[error("no UDP port is free on all of the addresses; name a port")]
    NoFreePort,
    /// The operating system forbids it.
    #[error(
        "not permitted to open a raw socket for SCTP (protocol 132): run as root, or `sudo setcap cap_net_raw+ep PROGRAM`, or use UDP encapsulation, which needs no rights"
    )]
    RawNotPermitted,
    /// Raw sockets do not exist here.
    #[error("SCTP directly on IP is not available on this system; use UDP encapsulation")]
    RawUnsupported,
    /// The operating system forbids the port.
    #[error(
        "not permitted to use UDP port {port} of {address}: ports below 1024 need rights; choose another port"
    )]
    PortNotPermitted {
        /// Local address.
        address: IpAddr,
        /// UDP port.
        port: u16,
    },
    /// The configuration contradicts itself.
    #[error("unusable configuration: {0}")]
    Config(#[from] ConfigError),
    /// There is no tokio runtime to run the endpoint on.
    #[error(
        "no tokio runtime with I/O and time is running here; call this from within one (`#[tokio::main]`)"
    )]
    NoRuntime,
    /// The operating system gave no random bytes, without which SCTP is not safe.
    #[error("the operating system gives no random numbers: {0}")]
    NoRandomness(String),
    /// Another error of the operating system.
    #[error("cannot use {address}: {source}")]
    Io {
        /// Local address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a port could not be listened on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// SCTP port 0 is not a port.
    #[error("SCTP port 0 cannot be listened on; choose 1 to 65535")]
    PortZero,
    /// There is a listener on the port already.
    #[error("SCTP port {0} already has a listener on this endpoint; drop it first, or choose another port")]
    AlreadyListening(u16),
    /// The endpoint is closed.
    #[error(transparent)]
    Closed(#[from] EndpointClosed),
}

/// Why an association could not be set up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No address of the peer was given.
    #[error("at least one address of the peer is needed")]
    NoAddress,
    /// No local address is of the same family (IPv4, IPv6) as any of the peer's.
    #[error("no local address can reach the peer: one side has only IPv4, the other only IPv6 addresses")]
    NoCommonFamily,
    /// No address of the peer is a host's.
    #[error("{0} is not the address of a host")]
    NotAHost(SocketAddr),
    /// This host has no address at all now.
    #[error("this host has no usable address now; is its network up?")]
    NoLocalAddress,
    /// SCTP port 0 is not a port.
    #[error("SCTP port 0 cannot be connected to; choose 1 to 65535")]
    PortZero,
    /// The attempt failed.
    #[error("cannot connect: {0}")]
    Failed(CloseReason),
    /// The endpoint is closed.
    #[error(transparent)]
    Closed(#[from] EndpointClosed),
}

/// The endpoint was closed, or the runtime it ran on has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the endpoint is closed")]
pub struct EndpointClosed;

/// Why nothing can be received, for now or for good.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecvError {
    /// The peer has restarted (RFC 9260 §5.2.4 A). Messages received so far came from its former life, those that
    /// follow come from the new one, and data on the way may be lost. Reported once; of lives that began and ended
    /// before this was read, nothing is kept. Receiving can go on if the application knows how to start afresh.
    #[error("the peer has restarted; messages may be lost")]
    Restarted,
    /// The association ended otherwise than by a graceful shutdown.
    #[error("the association is gone: {0}")]
    Closed(CloseReason),
}

/// A message that was not taken, and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{error}")]
pub struct TrySendError {
    /// The message, as given.
    pub message: Message,
    /// Why it was not taken; [`SendError::BufferFull`] means to wait and try again.
    pub error: SendError,
}
