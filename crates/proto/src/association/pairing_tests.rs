use core::net::{IpAddr, Ipv6Addr};

use super::*;

const NOW: Instant = Instant::ZERO;

fn local(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 9899))
}

fn remote(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, n], 9899))
}

fn remote_v6() -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), 9899)
}

fn arrival() -> Route {
    Route { local: local(1), remote: remote(1) }
}

fn config(pairing: PathPairing) -> Config {
    Config { pairing, ..Config::rfc() }
}

/// (local, remote, confirmed) of every path.
fn described(paths: &Paths) -> Vec<(SocketAddr, SocketAddr, bool)> {
    paths.iter().map(|p| (p.route.local, p.route.remote, p.confirmed)).collect()
}

/// RFC 9260 §5.4 rule 2: of what the peer lists, only where the handshake went is confirmed.
#[test]
fn one_path_per_destination() {
    let config = config(PathPairing::PerDestination);
    let remotes = [remote(1), remote(2), remote(3)];
    let paths = paths(NOW, &config, &[local(1), local(2)], &remotes, arrival(), |_| false);
    let expected = [(local(1), remote(1), true), (local(2), remote(2), false), (local(1), remote(3), false)];
    assert_eq!(described(&paths), expected);
    assert_eq!(paths.primary(), paths.by_route(arrival()).unwrap());
}

/// RFC 9260 §5.4 rule 1: the user vouches for what it has named.
#[test]
fn named_addresses_are_confirmed() {
    let config = config(PathPairing::PerDestination);
    let named = |address: SocketAddr| address == remote(2);
    let paths = paths(NOW, &config, &[local(1)], &[remote(1), remote(2), remote(3)], arrival(), named);
    let confirmed: Vec<bool> = paths.iter().map(|p| p.confirmed).collect();
    assert_eq!(confirmed, [true, true, false]);
}

/// RFC 2960 knew no verification.
#[test]
fn where_verification_is_omitted_listed_addresses_are_confirmed() {
    for pairing in [PathPairing::PerDestination, PathPairing::Mesh] {
        let config = Config { verification: PathVerification::Omitted, ..config(pairing) };
        let paths = paths(NOW, &config, &[local(1)], &[remote(1), remote(2)], arrival(), |_| false);
        let confirmed: Vec<bool> = paths.iter().map(|p| p.confirmed).collect();
        assert_eq!(confirmed, [true, true], "{pairing:?}");
    }
}

/// A pair may be dead although both addresses are good.
#[test]
fn a_mesh_has_every_pair_and_confirms_each() {
    let config = config(PathPairing::Mesh);
    let locals = [local(1), local(2)];
    let paths = paths(NOW, &config, &locals, &[remote(1), remote(2)], arrival(), |_| true);
    let expected = [
        (local(1), remote(1), true),
        (local(2), remote(1), false),
        (local(1), remote(2), false),
        (local(2), remote(2), false),
    ];
    assert_eq!(described(&paths), expected);
}

#[test]
fn families_are_not_mixed() {
    for pairing in [PathPairing::PerDestination, PathPairing::Mesh] {
        let paths = paths(NOW, &config(pairing), &[local(1)], &[remote(1), remote_v6()], arrival(), |_| true);
        assert_eq!(paths.len(), 1);
    }
}

#[test]
fn loopback_leads_to_loopback_only() {
    let own = SocketAddr::from(([127, 0, 0, 1], 9899));
    let paths = paths(NOW, &config(PathPairing::Mesh), &[own, local(1)], &[remote(1)], arrival(), |_| true);
    assert_eq!(described(&paths), [(local(1), remote(1), true)]);
}

#[test]
fn a_wildcard_address_reaches_anything_of_its_family() {
    let any = SocketAddr::from(([0, 0, 0, 0], 9899));
    let own = SocketAddr::from(([127, 0, 0, 1], 9899));
    assert_eq!(handshake_routes(&[any], &[remote(1), own, remote_v6()]).len(), 2);
}

/// Bridges between containers have the same addresses on every host. There may be no room for all pairs, and those come last.
#[test]
fn what_both_ends_have_comes_last() {
    let bridge = |n: u8, port| SocketAddr::from(([172, n, 0, 1], port));
    let locals = [bridge(17, 40_000), bridge(18, 40_000), local(1), local(2)];
    let remotes = [bridge(17, 9899), bridge(18, 9899), remote(1), remote(2)];
    let is_of_both = |route: Route| is_of_both(route, &locals, &remotes);
    let mut config = config(PathPairing::Mesh);
    for (room, doubtful) in [(4, 0), (16, 12)] {
        config.limits.paths = room;
        let paths = paths(NOW, &config, &locals, &remotes, arrival(), |_| false);
        assert_eq!(paths.iter().filter(|path| is_of_both(path.route)).count(), doubtful);
    }
    let paths = paths(NOW, &config, &locals[2..3], &remotes[2..3], arrival(), |_| false);
    let missing = missing(PathPairing::Mesh, &locals, &remotes, &paths, None);
    let first = missing.iter().position(|route| is_of_both(*route)).unwrap();
    assert!(first == 3 && missing[first..].iter().all(|route| is_of_both(*route)));
}

/// However many addresses the peer lists.
#[test]
fn paths_are_bounded() {
    let mut config = config(PathPairing::Mesh);
    config.limits.paths = 5;
    let remotes: Vec<SocketAddr> = (1..=100).map(remote).collect();
    assert_eq!(paths(NOW, &config, &[local(1), local(2)], &remotes, arrival(), |_| false).len(), 5);
}

/// Where there is no room for all, the one that something has come over must be among those that there is room for.
#[test]
fn what_is_preferred_comes_first() {
    let paths = Paths::new(1);
    let preferred = Route { local: local(2), remote: remote(3) };
    for pairing in [PathPairing::PerDestination, PathPairing::Mesh] {
        let remotes = [remote(1), remote(2), remote(3)];
        let routes = missing(pairing, &[local(1), local(2)], &remotes, &paths, Some(preferred));
        assert_eq!(routes[0], preferred);
    }
}

/// The peer's port may differ after a NAT: still the same address.
#[test]
fn an_address_listed_twice_is_one_path() {
    let twice = [remote(1), SocketAddr::new(remote(1).ip(), 5), remote(1)];
    for pairing in [PathPairing::PerDestination, PathPairing::Mesh] {
        assert_eq!(paths(NOW, &config(pairing), &[local(1)], &twice, arrival(), |_| false).len(), 1);
    }
}

/// With one access network each, the pairs that work come first; all are tried in the end.
#[test]
fn an_init_tries_like_with_like_first() {
    let routes = handshake_routes(&[local(1), local(2)], &[remote(1), remote(2)]);
    let pairs: Vec<_> = routes.iter().map(|r| (r.local, r.remote)).collect();
    let expected =
        [(local(1), remote(1)), (local(2), remote(2)), (local(2), remote(1)), (local(1), remote(2))];
    assert_eq!(pairs, expected);
    assert!(handshake_routes(&[local(1)], &[remote_v6()]).is_empty());
}

/// usrsctp lists the address that the INIT came from last: the order says nothing about networks.
#[test]
fn addresses_of_one_network_are_paired_whatever_the_order() {
    let own = |network: u8| SocketAddr::from(([10, 131, network, 1], 9899));
    let peers = |network: u8| SocketAddr::from(([10, 131, network, 2], 9899));
    let (locals, remotes) = ([own(1), own(2), own(3)], [peers(3), peers(1), peers(2)]);
    let arrival = Route { local: own(1), remote: peers(1) };
    let paths = paths(NOW, &config(PathPairing::PerDestination), &locals, &remotes, arrival, |_| true);
    let pairs: Vec<_> = paths.iter().map(|p| (p.route.local, p.route.remote)).collect();
    assert_eq!(pairs, [(own(1), peers(1)), (own(3), peers(3)), (own(2), peers(2))]);
    for (index, route) in handshake_routes(&locals, &remotes)[..3].iter().enumerate() {
        assert_eq!(route.remote, remotes[index]);
        assert_eq!(route.local.ip().to_string()[..8], route.remote.ip().to_string()[..8]);
    }
}

/// Two paths that leave from one address die together.
#[test]
fn every_local_address_is_used_before_one_is_used_twice() {
    let arrival = Route { local: local(1), remote: remote(2) };
    let rfc = config(PathPairing::PerDestination);
    let paths = paths(NOW, &rfc, &[local(1), local(2)], &[remote(1), remote(2)], arrival, |_| true);
    let pairs: Vec<_> = paths.iter().map(|p| (p.route.local, p.route.remote)).collect();
    assert_eq!(pairs, [(local(1), remote(2)), (local(2), remote(1))]);
}
