//! A peer that has IPv4 alone, and a host that is left with IPv6: many networks that have IPv6 alone translate (NAT64, RFC 6146), and reach
//! IPv4 addresses by IPv6 ones that are made of them (RFC 6052).
//!
//! Only the well-known prefix is known to everybody; that of a network that has its own would have to be asked for (RFC 7050, RFC 8781).
//! What is made here is tried like any address that a peer has named: an ASCONF goes there, from where we are now, and no data before a
//! HEARTBEAT has been answered (RFC 9260 §5.4). The peer sees an IPv4 address that we do not know, so that wildcards stand for ours.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::translation::is_private;
use super::{Context, Open};
use crate::config::AddressNaming;
use crate::interface::Mobility;

/// RFC 6052 §2.1.
const WELL_KNOWN_PREFIX: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// What an IPv4 address is called behind a translator.
fn synthesised(address: SocketAddr) -> Option<SocketAddr> {
    let IpAddr::V4(v4) = address.ip() else { return None };
    let bits = WELL_KNOWN_PREFIX.to_bits() | u128::from(v4.to_bits());
    is_global(v4).then(|| SocketAddr::new(Ipv6Addr::from_bits(bits).into(), address.port()))
}

/// The IPv4 address that is called so, if it is one.
fn meant(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(v6) = address else { return None };
    let bits = v6.to_bits();
    (bits >> 32 == WELL_KNOWN_PREFIX.to_bits() >> 32).then(|| Ipv4Addr::from_bits(bits as u32).into())
}

/// RFC 6052 §3.1: the prefix is for no other addresses.
fn is_global(v4: Ipv4Addr) -> bool {
    !(is_private(v4.into())
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_unspecified()
        || v4.is_multicast())
}

/// Whether all that peers at `remotes` get from this IPv6 address of ours reaches them in IPv4. Translators translate UDP (RFC 6146 §1).
pub(crate) fn leads_beyond(local: SocketAddr, remotes: &[SocketAddr]) -> bool {
    let mut of_family = remotes.iter().filter(|remote| remote.is_ipv6()).peekable();
    local.is_ipv6()
        && local.port() != 0
        && of_family.peek().is_some()
        && of_family.all(|remote| meant(remote.ip()).is_some())
}

impl Open {
    /// Names the peer's IPv4 addresses for a translator if there may be one, and nothing else leads to the peer: we have lost the last
    /// IPv4 address and have an IPv6 one, which the peer has not. They stay, though IPv4 may come back: they may be in use.
    pub(crate) fn synthesise(&mut self, context: &mut Context<'_>) {
        let any_up = |v4: bool| self.locals.all_up().any(|local| local.is_ipv4() == v4 && local.port() != 0);
        let native =
            |remote: &SocketAddr| remote.is_ipv6() && meant(remote.ip()).is_none_or(|v4| !self.knows(v4));
        if self.asconf.mobility != Mobility::Dynamic
            || context.config.dar.naming == AddressNaming::Literal
            || any_up(true)
            || !any_up(false)
            || self.peer.addresses.iter().any(native)
        {
            return;
        }
        let room = context.config.limits.peer_addresses.saturating_sub(self.peer.addresses.len());
        let new = self.peer.addresses.iter().copied().filter_map(synthesised);
        let new: Vec<SocketAddr> = new.filter(|address| !self.knows(address.ip())).take(room).collect();
        if !new.is_empty() {
            self.peer.addresses.extend(new);
            self.notes.addresses_changed = true;
        }
    }

    /// The peer's own address for one of which it is called here.
    pub(super) fn own_name(&self, remote: IpAddr) -> IpAddr {
        meant(remote).filter(|v4| self.knows(*v4)).unwrap_or(remote)
    }

    /// The peer has deleted `address`: what was made of it goes, too.
    pub(super) fn forget_synthesised(&mut self, address: IpAddr) {
        self.peer.addresses.retain(|known| meant(known.ip()) != Some(address));
    }
}

#[cfg(test)]
#[path = "synthesis_tests.rs"]
mod tests;
