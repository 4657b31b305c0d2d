//! Lets the system fragment a single datagram. Sockets forbid it otherwise, so that path MTU probes mean something.

use core::net::SocketAddr;

use std::net::UdpSocket;

/// Calls `send` while datagrams of `io` may be fragmented. Where the system has no such option, they are sent as
/// always and may be refused.
pub(super) fn allowed<T>(io: &UdpSocket, local: SocketAddr, send: impl FnOnce() -> T) -> T {
    system::forbid(io, local, false);
    let outcome = send();
    system::forbid(io, local, true);
    outcome
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use super::*;

    pub(super) fn forbid(_io: &UdpSocket, _local: SocketAddr, _forbidden: bool) {}
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use nix::sys::socket::{setsockopt, sockopt};
    use nix::{libc, setsockopt_impl};

    use super::*;

    #[derive(Clone, Copy)]
    struct MtuDiscoverV4;
    setsockopt_impl!(MtuDiscoverV4, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, i32, sockopt::SetStruct<i32>);

    #[derive(Clone, Copy)]
    struct MtuDiscoverV6;
    setsockopt_impl!(
        MtuDiscoverV6,
        libc::IPPROTO_IPV6,
        libc::IPV6_MTU_DISCOVER,
        i32,
        sockopt::SetStruct<i32>
    );

    #[derive(Clone, Copy)]
    struct LargestFragmentV6;
    setsockopt_impl!(LargestFragmentV6, libc::IPPROTO_IPV6, libc::IPV6_MTU, i32, sockopt::SetStruct<i32>);

    /// Bytes that every IPv6 link carries (RFC 8200 §5).
    const IPV6_LEAST_MTU: i32 = 1280;

    /// A failure leaves the datagram as big as it is; the caller hears of that when it sends it.
    pub(super) fn forbid(io: &UdpSocket, local: SocketAddr, forbidden: bool) {
        if local.is_ipv4() {
            let mode = if forbidden { libc::IP_PMTUDISC_PROBE } else { libc::IP_PMTUDISC_DONT };
            let _ = setsockopt(io, MtuDiscoverV4, &mode);
        } else {
            let mode = if forbidden { libc::IPV6_PMTUDISC_PROBE } else { libc::IPV6_PMTUDISC_DONT };
            let _ = setsockopt(io, MtuDiscoverV6, &mode);
            let _ = setsockopt(io, sockopt::Ipv6DontFrag, &forbidden);
            // Routers fragment no IPv6 packets, and none has said what would pass: fragments are as small as every link
            // carries (RFC 8200 §5). 0 is the size of the interface.
            let _ = setsockopt(io, LargestFragmentV6, &if forbidden { 0 } else { IPV6_LEAST_MTU });
        }
    }
}
