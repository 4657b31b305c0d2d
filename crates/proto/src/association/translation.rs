//! Addresses that are translated on the way (RFC 6951 §3.2, §5.7): the peer knows them by others, which nobody tells us.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::Translators;
use crate::config::AddressNaming;

/// How far our addresses may be named to a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naming<'a> {
    pub(crate) wanted: AddressNaming,
    pub(crate) translators: &'a Translators,
}

/// Those of `locals` that an INIT or INIT ACK to `remotes` may list.
pub(crate) fn nameable(naming: Naming<'_>, locals: &[SocketAddr], remotes: &[SocketAddr]) -> Vec<SocketAddr> {
    locals.iter().copied().filter(|&local| !may_be_translated(naming, local, remotes)).collect()
}

/// The addresses that a peer at `remotes` knows after a handshake from `source`: those that were listed, and that.
pub(crate) fn known_after_handshake(
    naming: Naming<'_>,
    locals: &[SocketAddr],
    remotes: &[SocketAddr],
    source: IpAddr,
) -> Vec<SocketAddr> {
    let known = |local: &SocketAddr| local.ip() == source || !may_be_translated(naming, *local, remotes);
    locals.iter().copied().filter(known).collect()
}

/// Whether what leaves from `local` may arrive at `remotes` with another source address, so that `local` must not be put
/// into a packet (RFC 6951 §5.7).
pub(crate) fn may_be_translated(naming: Naming<'_>, local: SocketAddr, remotes: &[SocketAddr]) -> bool {
    match naming.wanted {
        AddressNaming::Literal => false,
        AddressNaming::Wildcards => true,
        // Without UDP there are hardly any translators that let SCTP through.
        AddressNaming::ByScope if naming.translators.lead_beyond(local, remotes) => true,
        AddressNaming::ByScope => {
            let beyond = |remote: &SocketAddr| {
                remote.is_ipv4() == local.is_ipv4() && !is_private(remote.ip()) && !remote.ip().is_loopback()
            };
            local.port() != 0 && is_private(local.ip()) && remotes.iter().any(beyond)
        }
    }
}

/// The wildcard: "where this packet comes from" (RFC 5061 §4.2.1, §4.2.2, §4.2.4), of the family in which the peers at `remotes` see it.
pub(crate) fn wildcard_for(translators: &Translators, local: SocketAddr, remotes: &[SocketAddr]) -> IpAddr {
    if local.is_ipv4() || translators.lead_beyond(local, remotes) {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    }
}

/// Whether an address means something only within a site or a provider's network: private (RFC 1918), shared (RFC 6598), of a host
/// in an IPv6-only network (RFC 7335) or unique local (RFC 4193).
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, third, fourth] = v4.octets();
            let shared = first == 100 && second & 0xC0 == 64;
            let continuity = [first, second, third] == [192, 0, 0] && fourth < 8;
            v4.is_private() || shared || continuity
        }
        IpAddr::V6(v6) => v6.is_unique_local(),
    }
}

#[cfg(test)]
#[path = "translation_tests.rs"]
mod tests;
