//! A raw socket that drops everything, next to each raw socket that receives.
//!
//! Linux answers a packet with ICMP "protocol unreachable" when no raw socket takes it, and since 2024 also when the one
//! that would has a full buffer. The peer MUST take that for an ABORT (RFC 9260 §10, ICMP8). A socket whose filter drops
//! everything never fills up, so there is always one that takes the packet, and what is too much is lost and sent again.

use std::io;

use core::net::SocketAddr;

use socket2::{Domain, Protocol, SockFilter, Type};

/// Classic BPF: return 0, the number of bytes to keep.
pub(super) const DROP: SockFilter = SockFilter::new(0x06, 0, 0, 0);

/// Keeps the system from answering packets of `protocol` to this address for as long as it lives.
#[derive(Debug)]
pub(super) struct Guard {
    _socket: socket2::Socket,
}

impl Guard {
    pub(super) fn new(address: SocketAddr, protocol: Protocol) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::RAW, Some(protocol))?;
        // The filter first: nothing that arrives is kept, or counted as lost for want of room.
        socket.attach_filter(&[DROP])?;
        socket.bind(&address.into())?;
        Ok(Self { _socket: socket })
    }
}
