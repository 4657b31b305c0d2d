//! What IPv4 addresses are called in networks that have IPv6 alone and translate (NAT64, RFC 6146): by IPv6 addresses that are made of a
//! prefix and them (RFC 6052). One prefix is well known; networks that have their own tell it (RFC 8781, RFC 7050).

use core::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use whimbrel_machine::Nat64Prefix;

use super::translation::is_private;

/// Prefixes of networks that we are in, at most: each makes an address of every IPv4 address of a peer.
const TOLD_MAX: usize = 4;

/// The prefixes that count here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Translators {
    /// Where each of our addresses is, as far as it is told.
    told: Arc<[(IpAddr, Nat64Prefix)]>,
    /// Of networks that we were in, while the peer has an address that was called so there.
    past: Vec<Nat64Prefix>,
}

impl Translators {
    /// At most [`TOLD_MAX`] prefixes are kept of those told, the first ones.
    pub(crate) fn new(told: impl IntoIterator<Item = (IpAddr, Nat64Prefix)>) -> Self {
        let mut kept: Vec<(IpAddr, Nat64Prefix)> = Vec::new();
        let mut prefixes: Vec<Nat64Prefix> = Vec::new();
        for (local, prefix) in told {
            if !prefixes.contains(&prefix) {
                if prefixes.len() >= TOLD_MAX {
                    continue;
                }
                prefixes.push(prefix);
            }
            kept.push((local, prefix));
        }
        Self { told: kept.into(), past: Vec::new() }
    }

    /// Takes over what is told now. What was told before is remembered as far as one of `remotes` is called so.
    pub(crate) fn follow(&mut self, now: &Self, remotes: &[SocketAddr]) {
        let mut past = core::mem::take(&mut self.past);
        past.extend(self.told.iter().map(|&(_, prefix)| prefix));
        self.told = Arc::clone(&now.told);
        for prefix in past {
            let calls = |remote: &SocketAddr| embedded(prefix, remote.ip()).is_some();
            if !self.is_told(prefix) && !self.past.contains(&prefix) && remotes.iter().any(calls) {
                self.past.push(prefix);
            }
        }
    }

    // ---- views

    /// What an address may be called where we are now: a network's own prefix before the well-known one.
    pub(crate) fn names(&self, address: SocketAddr) -> Vec<SocketAddr> {
        let IpAddr::V4(v4) = address.ip() else { return Vec::new() };
        let mut names = Vec::new();
        let own = self.told.iter().map(|&(_, prefix)| prefix);
        for prefix in own.chain([Nat64Prefix::WELL_KNOWN]).filter(|&prefix| serves(prefix, v4.into())) {
            let name = SocketAddr::new(prefix.synthesise(v4).into(), address.port());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The IPv4 address that is or was called so, if it is one.
    pub(crate) fn meant(&self, address: IpAddr) -> Option<IpAddr> {
        embedded(self.prefix_of(address)?, address)
    }

    /// Whether an address is called so in no network that we are in now.
    pub(crate) fn is_past(&self, address: IpAddr) -> bool {
        self.prefix_of(address).is_some_and(|prefix| self.past.contains(&prefix))
    }

    /// Whether `remote` is called so where `local` is: what is nobody's name but its own is called so everywhere.
    pub(crate) fn call_it_so(&self, local: IpAddr, remote: IpAddr) -> bool {
        let Some(prefix) = self.prefix_of(remote) else { return true };
        let there = self.told.iter().find(|(address, _)| *address == local).map(|&(_, prefix)| prefix);
        prefix == there.unwrap_or(Nat64Prefix::WELL_KNOWN)
    }

    /// Whether all that peers at `remotes` get from this IPv6 address of ours reaches them in IPv4. Translators translate UDP (RFC 6146 §1).
    pub(crate) fn lead_beyond(&self, local: SocketAddr, remotes: &[SocketAddr]) -> bool {
        let mut of_family = remotes.iter().filter(|remote| remote.is_ipv6()).peekable();
        local.is_ipv6()
            && local.port() != 0
            && of_family.peek().is_some()
            && of_family.all(|remote| self.meant(remote.ip()).is_some())
    }

    fn prefix_of(&self, address: IpAddr) -> Option<Nat64Prefix> {
        let told = self.told.iter().map(|&(_, prefix)| prefix);
        let mut known = told.chain([Nat64Prefix::WELL_KNOWN]).chain(self.past.iter().copied());
        known.find(|&prefix| embedded(prefix, address).is_some())
    }

    fn is_told(&self, prefix: Nat64Prefix) -> bool {
        prefix == Nat64Prefix::WELL_KNOWN || self.told.iter().any(|&(_, told)| told == prefix)
    }
}

/// The IPv4 address that `address` is made of, if it is made of one with this prefix. What is made has zeros behind (RFC 6052 §2.2): an
/// address that has something there is somebody's own.
fn embedded(prefix: Nat64Prefix, address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(v6) = address else { return None };
    prefix.extract(v6).filter(|&v4| prefix.synthesise(v4) == v6).map(IpAddr::V4)
}

/// Whether a translator may be asked for this IPv4 address. With the well-known prefix only for what means the same everywhere
/// (RFC 6052 §3.1); a network that has its own may translate to what is private there.
fn serves(prefix: Nat64Prefix, v4: IpAddr) -> bool {
    let IpAddr::V4(address) = v4 else { return false };
    let is_a_hosts = !(address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast());
    is_a_hosts && (prefix != Nat64Prefix::WELL_KNOWN || !is_private(v4))
}

#[cfg(test)]
#[path = "translators_tests.rs"]
mod tests;
