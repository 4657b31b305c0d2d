//! Which address pairs become paths.

use core::net::{IpAddr, SocketAddr};

use smallvec::SmallVec;
use whimbrel_machine::{Instant, Route};

use crate::config::{Config, PathPairing, PathVerification};
use crate::path::{Egress, Path, Paths};

/// The paths between `locals` and `remotes`. The first one is `arrival`, where the handshake went: it is
/// confirmed and primary. `vouched` says whether the user named the peer's address, which confirms it
/// (RFC 9260 §5.4 rule 1); under [`PathPairing::Mesh`] an address may be genuine and the pair dead all the same, so
/// there every other pair has to answer a heartbeat first, which is stricter than the RFC.
pub(crate) fn paths(
    now: Instant,
    config: &Config,
    locals: &[SocketAddr],
    remotes: &[SocketAddr],
    arrival: Route,
    vouched: impl Fn(SocketAddr) -> bool,
) -> Paths {
    let expected = match config.pairing {
        PathPairing::PerDestination => remotes.len(),
        PathPairing::Mesh => remotes.len() * locals.len(),
    };
    let mut paths = Paths::new(expected.clamp(1, config.limits.paths.max(1)));
    let id = paths.next_id();
    let mut path = Path::new(id, arrival, true, config, now);
    path.supervision.proved = Some(now);
    paths.push(path);
    let rounds: &[bool] = if config.pairing == PathPairing::Mesh { &[false, true] } else { &[true] };
    let turns = rounds.iter().flat_map(|last| remotes.iter().enumerate().map(|turn| (*last, turn)));
    for (last, (index, &remote)) in turns {
        if is_ourselves(locals, remote) {
            continue;
        }
        let routes = match config.pairing {
            PathPairing::Mesh => {
                let mut routes = fitting(locals, remote);
                routes.retain(|route| is_of_both(*route, locals, remotes) == last);
                routes
            }
            PathPairing::PerDestination => {
                let taken: Taken = paths.iter().map(|path| path.route.local).collect();
                partner(locals, index, remote, &taken).into_iter().collect()
            }
        };
        for route in routes {
            if paths.len() >= config.limits.paths {
                return paths;
            }
            let known = match config.pairing {
                PathPairing::PerDestination => paths.to_remote(remote.ip()).is_some(),
                PathPairing::Mesh => paths.by_ips(route.local.ip(), route.remote.ip()).is_some(),
            };
            if !known {
                let confirmed = config.verification == PathVerification::Omitted
                    || config.pairing == PathPairing::PerDestination && vouched(remote);
                let id = paths.next_id();
                paths.push(Path::new(id, route, confirmed, config, now));
            }
        }
    }
    paths
}

/// Local addresses that have been given to others.
type Taken = SmallVec<[SocketAddr; 4]>;

/// The routes that should become paths now that addresses have changed: `sources` are what we can send from. Under
/// [`PathPairing::PerDestination`] an address of the peer gets another path when none can be sent on any more, and a
/// route that is `preferred`, because it is known or likely to work, comes first.
pub(crate) fn missing(
    pairing: PathPairing,
    sources: &[SocketAddr],
    remotes: &[SocketAddr],
    paths: &Paths,
    preferred: Option<Route>,
) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    let open = || paths.iter().filter(|path| path.egress == Egress::Open).map(|path| path.route);
    for (index, &remote) in remotes.iter().enumerate() {
        if is_ourselves(sources, remote) {
            continue;
        }
        match pairing {
            PathPairing::Mesh => {
                let new = |route: &Route| paths.by_ips(route.local.ip(), route.remote.ip()).is_none();
                routes.extend(fitting(sources, remote).into_iter().filter(new));
            }
            PathPairing::PerDestination if open().any(|route| route.remote.ip() == remote.ip()) => {}
            PathPairing::PerDestination => {
                let taken: Vec<SocketAddr> =
                    open().map(|route| route.local).chain(routes.iter().map(|route| route.local)).collect();
                let usable = |route: &Route| route.remote == remote && sources.contains(&route.local);
                routes.extend(preferred.filter(usable).or_else(|| partner(sources, index, remote, &taken)));
            }
        }
    }
    // There may not be room for all.
    routes.sort_by_key(|route| (Some(*route) != preferred, is_of_both(*route, sources, remotes)));
    routes
}

/// Whether one of a route's addresses is in use at both ends: bridges between the containers of a host have the same few numbers everywhere, and lead
/// to nobody else. Hosts behind translators may have the same number, too, so that such a route is not left out, but comes after all others.
pub(crate) fn is_of_both(route: Route, locals: &[SocketAddr], remotes: &[SocketAddr]) -> bool {
    let has = |addresses: &[SocketAddr], ip: IpAddr| addresses.iter().any(|address| address.ip() == ip);
    has(remotes, route.local.ip()) || has(locals, route.remote.ip())
}

/// Whether any of `remotes` could be reached from `local`.
pub(crate) fn reaches(local: SocketAddr, remotes: &[SocketAddr]) -> bool {
    remotes.iter().any(|&remote| !fitting(&[local], remote).is_empty())
}

/// The routes from `local` to those of `remotes` it could reach.
pub(crate) fn routes_from(local: SocketAddr, remotes: impl Iterator<Item = SocketAddr>) -> Vec<Route> {
    remotes.flat_map(|remote| fitting(&[local], remote)).collect()
}

/// Whether an address that a peer has listed is ours, as far as an encapsulation port can tell. Networks with the same private
/// numbers are common; what is sent there comes back to us.
pub(crate) fn is_ourselves(locals: &[SocketAddr], remote: SocketAddr) -> bool {
    remote.port() != 0 && locals.contains(&remote)
}

/// The routes to `remote` that could work.
fn fitting(locals: &[SocketAddr], remote: SocketAddr) -> SmallVec<[Route; 4]> {
    locals
        .iter()
        .filter(|local| local.is_ipv4() == remote.is_ipv4())
        .filter(|local| local.ip().is_loopback() == remote.ip().is_loopback() || local.ip().is_unspecified())
        .map(|&local| Route { local, remote })
        .collect()
}

/// The best route to `remote`, which is the peer's address number `index`, when the local addresses `taken` have
/// been given to others already. A peer lists its addresses in any order, so one on the same network is looked for
/// first; then paths should share as little as they can (RFC 9260 §6.4); then the n-th goes to the n-th.
fn partner(locals: &[SocketAddr], index: usize, remote: SocketAddr, taken: &[SocketAddr]) -> Option<Route> {
    let routes = fitting(locals, remote);
    let count = routes.len();
    let rank = |(position, route): &(usize, &Route)| {
        let uses = taken.iter().filter(|local| **local == route.local).count();
        let after_its_turn = (position + count - index % count) % count;
        (!same_network(route.local.ip(), remote.ip()), uses, after_its_turn)
    };
    routes.iter().enumerate().min_by_key(rank).map(|(_, &route)| route)
}

/// Whether the two probably share a link. The core knows no prefix lengths: the usual ones are assumed.
fn same_network(one: IpAddr, other: IpAddr) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => one.octets()[..3] == other.octets()[..3],
        (IpAddr::V6(one), IpAddr::V6(other)) => one.octets()[..8] == other.octets()[..8],
        _ => false,
    }
}

/// Routes to try for an INIT, best first: each address of the peer from each fitting local address.
pub(crate) fn handshake_routes(locals: &[SocketAddr], remotes: &[SocketAddr]) -> Vec<Route> {
    let mut out: Vec<Route> = Vec::with_capacity(locals.len() * remotes.len());
    // With one access network each, the pairs that work.
    for (index, &remote) in remotes.iter().enumerate() {
        let taken: Taken = out.iter().map(|route| route.local).collect();
        out.extend(partner(locals, index, remote, &taken));
    }
    for &remote in remotes {
        for route in fitting(locals, remote) {
            if !out.contains(&route) {
                out.push(route);
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
