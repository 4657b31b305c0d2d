use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Instant, Nat64Prefix, Route};

/// Ports below are never given out.
const FIRST_PORT: u16 = 20_000;

/// Mappings at a time; beyond, the one that was unused for longest makes room.
const MAPPINGS_MAX: usize = 4096;

/// A box that translates UDP addresses and ports, at an interface of a host: address and port dependent in mapping and filtering, the
/// strict kind (RFC 4787 §4.1, §5). Ports are never kept nor given out again soon. What is of another family than its public address passes
/// as it is, unless a prefix says how it is translated.
#[derive(Debug)]
pub(crate) struct Nat {
    public: IpAddr,
    /// IPv4 addresses are reached from inside by IPv6 ones with this prefix (NAT64, RFC 6146).
    prefix: Option<Nat64Prefix>,
    idle: Duration,
    next_port: u16,
    mappings: Vec<Mapping>,
}

/// What stands for `inside` towards `peer`.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    inside: SocketAddr,
    peer: SocketAddr,
    port: u16,
    /// Only what goes out keeps a mapping alive (RFC 4787 §4.3 REQ-6).
    used: Instant,
}

impl Nat {
    pub(crate) const fn new(public: IpAddr, idle: Duration) -> Self {
        Self { public, prefix: None, idle, next_port: FIRST_PORT, mappings: Vec::new() }
    }

    /// The same, and it translates between IPv6 inside and IPv4 outside.
    pub(crate) fn with_prefix(self, prefix: Nat64Prefix) -> Self {
        Self { prefix: Some(prefix), ..self }
    }

    // ---- inputs

    /// A datagram goes out. Its route as everybody outside sees it; `None` if it is not UDP and stays here.
    pub(crate) fn translate_out(&mut self, now: Instant, route: Route) -> Option<Route> {
        let (inside, peer) = (route.local, self.outside(route.remote));
        if !self.concerns(peer.ip()) {
            return Some(route);
        }
        if route.local.port() == 0 {
            return None;
        }
        self.expire(now);
        let port = match self.mappings.iter_mut().find(|m| (m.inside, m.peer) == (inside, peer)) {
            Some(mapping) => {
                mapping.used = now;
                mapping.port
            }
            None => self.map(now, inside, peer),
        };
        Some(Route { local: SocketAddr::new(self.public, port), remote: peer })
    }

    /// A datagram from `route.local` has come to `route.remote`. Its route as it is inside; `None` if nobody has asked for it.
    pub(crate) fn translate_in(&mut self, now: Instant, route: Route) -> Option<Route> {
        if !self.concerns(route.remote.ip()) {
            return Some(route);
        }
        self.expire(now);
        let inside = self.inside(route.remote, route.local)?;
        Some(Route { local: inside.remote, remote: inside.local })
    }

    /// Forgets everything, as when it is switched off and on: what goes out gets other ports from now on.
    pub(crate) fn forget(&mut self) {
        self.mappings.clear();
    }

    // ---- views

    /// Who is behind `outside` towards `peer`, and what `peer` is called there.
    pub(crate) fn inside(&self, outside: SocketAddr, peer: SocketAddr) -> Option<Route> {
        let found = |m: &&Mapping| (m.port, m.peer) == (outside.port(), peer);
        let mapping = self.mappings.iter().find(found).filter(|_| outside.ip() == self.public)?;
        let remote = match (self.prefix, peer.ip()) {
            (Some(prefix), IpAddr::V4(v4)) if mapping.inside.is_ipv6() => {
                SocketAddr::new(prefix.synthesise(v4).into(), peer.port())
            }
            _ => peer,
        };
        Some(Route { local: mapping.inside, remote })
    }

    /// What is called `remote` inside.
    pub(crate) fn outside(&self, remote: SocketAddr) -> SocketAddr {
        match (self.prefix, remote.ip()) {
            (Some(prefix), IpAddr::V6(v6)) => {
                prefix.extract(v6).map_or(remote, |v4| SocketAddr::new(v4.into(), remote.port()))
            }
            _ => remote,
        }
    }

    // ---- shared

    /// Whether it translates what goes to or comes from addresses like this one.
    fn concerns(&self, outside: IpAddr) -> bool {
        outside.is_ipv4() == self.public.is_ipv4()
    }

    fn map(&mut self, now: Instant, inside: SocketAddr, peer: SocketAddr) -> u16 {
        if self.mappings.len() >= MAPPINGS_MAX {
            let oldest = self.mappings.iter().enumerate().min_by_key(|(_, mapping)| mapping.used);
            if let Some((at, _)) = oldest {
                self.mappings.remove(at);
            }
        }
        let taken = |port| self.mappings.iter().any(|mapping| mapping.port == port);
        let mut port = self.next_port;
        while taken(port) {
            port = following(port);
        }
        self.next_port = following(port);
        self.mappings.push(Mapping { inside, peer, port, used: now });
        port
    }

    fn expire(&mut self, now: Instant) {
        let idle = self.idle;
        self.mappings.retain(|mapping| now.saturating_since(mapping.used) < idle);
    }
}

const fn following(port: u16) -> u16 {
    if port == u16::MAX { FIRST_PORT } else { port + 1 }
}

#[cfg(test)]
#[path = "nat_tests.rs"]
mod tests;
