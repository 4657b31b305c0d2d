//! Networks that have IPv6 alone and translate (NAT64, RFC 6146), and networks that take a host in and lead nowhere.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Nat64Prefix, Route};
use whimbrel_proto::AddressChange::{Add, Delete, SetPrimary};
use whimbrel_proto::{AddressNaming, PathState};
use whimbrel_wire::parameter_type as kind;

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// The node with a private address, and a peer that has connected to it from a public one.
fn with_public_peer() -> (Bench, Mobile, Route) {
    let mut bench = Bench::with_locals(mesh(), vec![node_address(1)]);
    let mut mobile = Mobile::new();
    let public = Route { remote: socket("198.51.100.9:41234"), ..between(1, 1) };
    mobile.connect_on(&mut bench, public, &[]);
    (bench, mobile, public)
}

/// RFC 6052 §2: the peer has IPv4 alone, and the network that is left IPv6 alone. The request goes where a translator would take it, and
/// names nothing, as the peer sees another address than ours (RFC 5061 §4.2.1).
#[test]
fn the_peer_is_called_by_what_a_translator_calls_it() {
    let (mut bench, mobile, public) = with_public_peer();
    let ours = socket("[2001:db8::7]:9899");
    swap(&mut bench, public.local, ours);
    let old = public.local.ip();
    change(&mut bench, &[Add(ours), Delete(old), SetPrimary(ours.ip())]);
    let sent = bench.take_only();
    let beyond = Route { local: ours, remote: socket("[64:ff9b::198.51.100.9]:41234") };
    assert_eq!(sent.route, beyond);
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert_eq!(address, Ipv4Addr::UNSPECIFIED, "the peer sees IPv4");
    assert!(requests.iter().all(|(.., address)| *address == Ipv4Addr::UNSPECIFIED), "{requests:?}");
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, beyond), PathState::Active);
    bench.send(0, b"on");
    assert_eq!(bench.take_only().route, beyond);
}

/// While there is IPv4, or the peer has IPv6, no address is made up; nor one for a peer with a private address (RFC 6052 §3.1).
#[test]
fn no_address_is_made_up_without_need() {
    let (mut bench, ..) = with_public_peer();
    let ours = socket("[2001:db8::7]:9899");
    gain(&mut bench, ours);
    assert!(bench.take().is_empty(), "IPv4 is there");
    let (mut bench, _) = Mobile::connected(mesh(), 1);
    down(&mut bench, node_address(1));
    gain(&mut bench, ours);
    assert!(bench.take().is_empty(), "a private address has no name elsewhere");
}

/// What is to be added behind a NAT can leave from there alone, and nothing else can be asked meanwhile (RFC 5061 §5.1 A3). A network that
/// answers nothing must not hold up the next one.
#[test]
fn a_network_that_leads_nowhere_does_not_hold_up_the_next() {
    let mut config = mesh();
    config.dar.naming = AddressNaming::Wildcards;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    down(&mut bench, node_address(1));
    gain(&mut bench, node_address(2));
    assert_eq!(bench.take_only().route, between(2, 1));
    for _ in 0..4 {
        bench.pass(Duration::from_secs(5));
        let sent = bench.take();
        assert!(sent.iter().all(|sent| sent.route.local == node_address(2)), "{sent:?}");
    }
    gain(&mut bench, node_address(3));
    let sent = bench.take_only();
    assert_eq!(sent.route, between(3, 1));
    mobile.grant(&mut bench, &sent);
    let next = bench.take_only();
    let (_, _, requests) = mobile.read_asconf(&next);
    assert_eq!((next.route, requests[0].0), (between(3, 1), kind::ADD_IP_ADDRESS), "now it is meant");
}

const WIFI: InterfaceId = InterfaceId(1);

fn tells(on: InterfaceId, prefix: Option<&str>) -> LinkFact {
    let fact = InterfaceFact::Nat64(prefix.map(|prefix| prefix.parse().unwrap()));
    LinkFact::Interface { interface: on, fact }
}

/// The node comes into a network that has IPv6 alone and tells its prefix.
fn join(bench: &mut Bench, ours: SocketAddr, on: InterfaceId, prefix: &str) {
    let attached = LinkFact::AddressOn { interface: on, address: ours.ip() };
    let exists = LinkFact::Interface { interface: on, fact: InterfaceFact::Up(InterfaceKind::WirelessLan) };
    bench.links(&[exists, attached, tells(on, Some(prefix)), LinkFact::AddressUp(ours)]);
    change(bench, &[Add(ours)]);
}

/// The first packet that leaves from there.
#[track_caller]
fn take_from(bench: &mut Bench, ours: SocketAddr) -> Sent {
    bench.take().into_iter().find(|sent| sent.route.local == ours).expect("a request from there")
}

/// The node has left the network in which it had met the peer for such a one.
fn translated(ours: SocketAddr) -> (Bench, Mobile) {
    let (mut bench, mobile, public) = with_public_peer();
    down(&mut bench, public.local);
    join(&mut bench, ours, WIFI, "2001:db8:64::/96");
    mobile.grant_next(&mut bench);
    mobile.settle(&mut bench);
    (bench, mobile)
}

/// RFC 8781: what the network tells comes before the well-known prefix, and RFC 6052 §3.1 does not keep it from private addresses.
#[test]
fn a_network_that_tells_its_prefix_is_asked_by_that() {
    let ours = socket("[2001:db8::7]:9899");
    let (mut bench, mobile, public) = with_public_peer();
    down(&mut bench, public.local);
    join(&mut bench, ours, WIFI, "2001:db8:122::/48");
    let sent = bench.take_only();
    let beyond = Route { local: ours, remote: socket("[2001:db8:122:c633:64:900::]:41234") };
    assert_eq!(sent.route, beyond);
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert_eq!((address, requests[0].2), (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()));
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    bench.send(0, b"on");
    assert_eq!(bench.take_only().route, beyond);
    let (mut bench, _) = Mobile::connected(mesh(), 1);
    down(&mut bench, node_address(1));
    join(&mut bench, ours, WIFI, "2001:db8:64::/96");
    let IpAddr::V4(private) = peer_address(1).ip() else { panic!() };
    let called: Nat64Prefix = "2001:db8:64::/96".parse().unwrap();
    assert_eq!(bench.take_only().route.remote.ip(), called.synthesise(private));
}

/// An address may be there before its network says how it translates: what was sent by the well-known prefix meanwhile is not waited for.
#[test]
fn a_prefix_that_is_told_late_is_used_at_once() {
    let ours = socket("[2001:db8::7]:9899");
    let (mut bench, _, public) = with_public_peer();
    bench.links(&[tells(WIFI, Some("2001:db8::/32")), tells(WIFI, None)]);
    bench.link(LinkFact::AddressOn { interface: WIFI, address: ours.ip() });
    down(&mut bench, public.local);
    gain(&mut bench, ours);
    assert_eq!(bench.take_only().route.remote, socket("[64:ff9b::198.51.100.9]:41234"));
    bench.link(tells(WIFI, Some("2001:db8:64::/96")));
    assert_eq!(bench.take_only().route.remote, socket("[2001:db8:64::198.51.100.9]:41234"));
}

/// Nor when the host comes back into a network, where the peer had that name before.
#[test]
fn a_prefix_that_is_told_again_is_used_at_once() {
    let [first, second, third] =
        ["[2001:db8:a::7]:9899", "[2001:db8:b::7]:9899", "[2001:db8:a::8]:9899"].map(socket);
    let (mut bench, _) = translated(first);
    bench.links(&[LinkFact::AddressDown(first), tells(WIFI, None), LinkFact::AddressUp(second)]);
    bench.take();
    bench.links(&[
        LinkFact::AddressDown(second),
        LinkFact::AddressOn { interface: WIFI, address: third.ip() },
        LinkFact::AddressUp(third),
    ]);
    change(&mut bench, &[Add(third)]);
    assert_eq!(take_from(&mut bench, third).route.remote, socket("[64:ff9b::198.51.100.9]:41234"));
    bench.link(tells(WIFI, Some("2001:db8:64::/96")));
    assert_eq!(take_from(&mut bench, third).route.remote, socket("[2001:db8:64::198.51.100.9]:41234"));
}

/// Make before break between two such networks: from the new one the request goes where that one translates, though the peer is known to
/// answer by what the old one calls it.
#[test]
fn a_request_goes_where_its_own_network_translates() {
    let [first, second] = ["[2001:db8:a::7]:9899", "[2001:db8:b::7]:9899"].map(socket);
    let (mut bench, _) = translated(first);
    join(&mut bench, second, InterfaceId(2), "2001:db8:65::/96");
    assert_eq!(take_from(&mut bench, second).route.remote, socket("[2001:db8:65::198.51.100.9]:41234"));
}

/// A host may come through any number of such networks: what the peer was called in those that it has left makes room, and is not tried
/// from others.
#[test]
fn names_of_networks_that_were_left_go() {
    let (mut bench, mobile, public) = with_public_peer();
    down(&mut bench, public.local);
    let most = mesh().limits.peer_addresses;
    let mut last = public.local;
    for n in 0..3 * most {
        let ours = socket(&format!("[2001:db8:a:{n:x}::7]:9899"));
        bench.link(LinkFact::AddressDown(last));
        join(&mut bench, ours, InterfaceId(n as u32), &format!("2001:db8:64:{n:x}::/96"));
        let sent = bench.take_only();
        let beyond = socket(&format!("[2001:db8:64:{n:x}::198.51.100.9]:41234"));
        assert_eq!(sent.route, Route { local: ours, remote: beyond }, "network {n}");
        mobile.grant(&mut bench, &sent);
        mobile.settle(&mut bench);
        assert_eq!(state(&bench, Route { local: ours, remote: beyond }), PathState::Active, "network {n}");
        change(&mut bench, &[Delete(last.ip())]);
        mobile.grant_next(&mut bench);
        let from_here = bench.paths().iter().filter(|path| path.route.local == ours).count();
        assert!(from_here <= 3, "{:?}", bench.paths());
        // HB.Max.Burst (RFC 9260 §5.4).
        bench.pass(Duration::from_secs(3));
        mobile.settle(&mut bench);
        last = ours;
    }
    let known = remotes(&bench);
    assert!(known.len() <= 4, "{known:?}");
}

/// Nor are they tried from a network that tells none.
#[test]
fn no_new_path_leads_to_a_name_of_a_network_that_was_left() {
    let [first, second] = ["[2001:db8:a::7]:9899", "[2001:db8:b::7]:9899"].map(socket);
    let (mut bench, mobile) = translated(first);
    bench.links(&[LinkFact::AddressDown(first), tells(WIFI, None), LinkFact::AddressUp(second)]);
    change(&mut bench, &[Add(second)]);
    let sent = take_from(&mut bench, second);
    let beyond = Route { local: second, remote: socket("[64:ff9b::198.51.100.9]:41234") };
    assert_eq!(sent.route, beyond);
    mobile.grant(&mut bench, &sent);
    let from_there: Vec<Route> =
        bench.paths().iter().map(|path| path.route).filter(|route| route.local == second).collect();
    assert_eq!(from_there, [beyond]);
}

/// While a path works that leads to such a name it stays, though the network tells it no more.
#[test]
fn a_name_that_still_works_stays() {
    let ours = socket("[2001:db8::7]:9899");
    let (mut bench, mobile) = translated(ours);
    bench.link(tells(WIFI, None));
    bench.link(tells(WIFI, Some("2001:db8:65::/96")));
    mobile.settle(&mut bench);
    bench.send(0, b"on");
    let old = Route { local: ours, remote: socket("[2001:db8:64::198.51.100.9]:41234") };
    assert_eq!(bench.take_only().route, old);
    assert!(remotes(&bench).contains(&socket("[2001:db8:65::198.51.100.9]:1").ip()), "{:?}", remotes(&bench));
}
