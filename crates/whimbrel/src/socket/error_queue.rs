//! The socket's error queue, where Linux puts ICMP messages along with the datagram they quote.

use core::net::SocketAddr;

use std::net::UdpSocket;

use super::NetworkError;

/// What was at the head of the queue.
#[allow(dead_code, reason = "systems without an error queue never have anything in it")]
pub(super) enum Next {
    Empty,
    /// Something the machine has no use for.
    Irrelevant,
    Error(NetworkError),
    /// A packet is larger than the MTU of our own interface, in bytes with IP header. It is not quoted: who sent it knows.
    TooLarge {
        mtu: u32,
    },
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn next(_io: &UdpSocket, _local: SocketAddr) -> Next {
    Next::Empty
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::next;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::io::IoSliceMut;
    use std::os::fd::AsRawFd;

    use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

    use nix::libc::{EMSGSIZE, SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6, SO_EE_ORIGIN_LOCAL, sock_extended_err};
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
    use whimbrel_machine::{Route, Unreachable};

    use super::*;

    /// Enough of the quoted packet for its common header, and an INIT's initiate tag.
    const QUOTED_BYTES: usize = 576;

    pub(in super::super) fn next(io: &UdpSocket, local: SocketAddr) -> Next {
        let mut quoted = [0; QUOTED_BYTES];
        let mut control = [0; 256];
        let mut slices = [IoSliceMut::new(&mut quoted)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let message = match recvmsg::<SockaddrStorage>(io.as_raw_fd(), &mut slices, Some(&mut control), flags)
        {
            Ok(message) => message,
            Err(_) => return Next::Empty,
        };
        let length = message.bytes;
        // With an error, the address is that of the packet's destination.
        let remote = message.address.as_ref().and_then(address);
        let reason = message.cmsgs().ok().and_then(|mut messages| {
            messages.find_map(|message| match message {
                ControlMessageOwned::Ipv4RecvErr(error, _) | ControlMessageOwned::Ipv6RecvErr(error, _)
                    if is_own_mtu(&error) =>
                {
                    Some(Err(error.ee_info))
                }
                ControlMessageOwned::Ipv4RecvErr(error, from) => {
                    let from = from.map(|from| Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr)).into());
                    reason(&error).map(|reason| Ok(by_whom(reason, from, remote)))
                }
                ControlMessageOwned::Ipv6RecvErr(error, from) => {
                    let from = from.map(|from| Ipv6Addr::from(from.sin6_addr.s6_addr).into());
                    reason(&error).map(|reason| Ok(by_whom(reason, from, remote)))
                }
                _ => None,
            })
        });
        match (remote, reason) {
            (_, Some(Err(mtu))) => Next::TooLarge { mtu },
            (Some(remote), Some(Ok(reason))) => Next::Error(NetworkError {
                route: Route { local, remote },
                reason,
                quoted: quoted[..length].to_vec(),
            }),
            _ => Next::Irrelevant,
        }
    }

    /// Only the host itself can say that nobody listens there. A network that lets nothing out, such as one that wants a click first, refuses in its name.
    pub(super) fn by_whom(
        reason: Unreachable,
        from: Option<IpAddr>,
        remote: Option<SocketAddr>,
    ) -> Unreachable {
        match reason {
            Unreachable::Protocol if from != remote.map(|remote| remote.ip()) => Unreachable::Destination,
            reason => reason,
        }
    }

    fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
        match (storage.as_sockaddr_in(), storage.as_sockaddr_in6()) {
            (Some(v4), _) => Some(SocketAddrV4::new(v4.ip(), v4.port()).into()),
            (_, Some(v6)) => Some(SocketAddrV6::new(v6.ip(), v6.port(), 0, v6.scope_id()).into()),
            _ => None,
        }
    }

    fn is_own_mtu(error: &sock_extended_err) -> bool {
        error.ee_origin == SO_EE_ORIGIN_LOCAL && error.ee_errno == EMSGSIZE as u32
    }

    /// What an ICMP message means to SCTP (RFC 9260 §10; RFC 6951 §5.5 for ports).
    fn reason(error: &sock_extended_err) -> Option<Unreachable> {
        match (error.ee_origin, error.ee_type, error.ee_code) {
            // Protocol unreachable; port unreachable is the same to encapsulated SCTP.
            (SO_EE_ORIGIN_ICMP, 3, 2 | 3) => Some(Unreachable::Protocol),
            (SO_EE_ORIGIN_ICMP, 3, 4) | (SO_EE_ORIGIN_ICMP6, 2, _) => {
                Some(Unreachable::PacketTooBig { mtu: error.ee_info })
            }
            (SO_EE_ORIGIN_ICMP, 3, _) => Some(Unreachable::Destination),
            // Port unreachable; unrecognised next header.
            (SO_EE_ORIGIN_ICMP6, 1, 4) | (SO_EE_ORIGIN_ICMP6, 4, 1) => Some(Unreachable::Protocol),
            (SO_EE_ORIGIN_ICMP6, 1, _) => Some(Unreachable::Destination),
            _ => None,
        }
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
#[path = "error_queue_tests.rs"]
mod tests;
