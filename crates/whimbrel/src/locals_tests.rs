use super::*;
use crate::interfaces::RouteRank;

fn interface(index: u32, addresses: &[&str]) -> Interface {
    let addresses = addresses.iter().map(|ip| InterfaceAddress { ip: ip.parse().unwrap(), asked_for: false });
    let index = NonZeroU32::new(index);
    Interface { index, up: Some(true), addresses: addresses.collect(), ..Interface::default() }
}

fn host(interfaces: &[(&str, Interface)]) -> Interfaces {
    Interfaces(interfaces.iter().map(|(name, interface)| ((*name).to_owned(), interface.clone())).collect())
}

fn any() -> Wanted {
    Wanted { any_v4: true, any_v6: true, port: 9899, ..Wanted::default() }
}

fn named(ips: &[&str]) -> Wanted {
    Wanted { named: ips.iter().map(|ip| ip.parse().unwrap()).collect(), ..Wanted::default() }
}

fn ips(due: &[Due]) -> Vec<String> {
    due.iter().map(|one| one.address.ip().to_string()).collect()
}

#[test]
fn any_is_all_but_loopback_and_link_local_ones() {
    let mut lo = interface(1, &["127.0.0.1", "::1", "192.0.2.99"]);
    lo.properties.kind = Some(InterfaceKind::Loopback);
    let eth = interface(2, &["192.0.2.1", "169.254.3.3", "2001:db8::1", "fe80::1"]);
    let mut down = interface(3, &["192.0.2.3"]);
    down.up = Some(false);
    let mut host = host(&[("lo", lo), ("eth0", eth), ("eth1", down)]);
    assert_eq!(ips(&any().due(&host, &BTreeSet::new())), ["192.0.2.1", "2001:db8::1"]);
    let v6_only = Wanted { any_v4: false, ..any() };
    assert_eq!(ips(&v6_only.due(&host, &BTreeSet::new())), ["2001:db8::1"]);
    // Somebody names them: then they count.
    for interface in host.0.values_mut() {
        interface.addresses.iter_mut().for_each(|address| address.asked_for = true);
    }
    let due = any().due(&host, &BTreeSet::new());
    assert_eq!(due.len(), 7);
    let link_local = due.iter().find(|one| one.address.ip().to_string() == "fe80::1").unwrap();
    assert_eq!(link_local.address.to_string(), "[fe80::1%2]:9899");
}

#[test]
fn addresses_come_in_the_order_of_the_routes_and_leave_through_their_device() {
    let mut slow = interface(2, &["192.0.2.2"]);
    slow.way_out_v4 = Some(RouteRank { specific: false, metric: 600 });
    let mut fast = interface(3, &["192.0.2.3"]);
    fast.way_out_v4 = Some(RouteRank { specific: false, metric: 100 });
    let island = interface(1, &["192.0.2.1", "192.0.2.4"]);
    let host = host(&[("a", island), ("b", slow), ("c", fast)]);
    let due = any().due(&host, &BTreeSet::new());
    assert_eq!(ips(&due), ["192.0.2.3", "192.0.2.2", "192.0.2.1", "192.0.2.4"]);
    let devices: Vec<_> = due.iter().map(|one| one.device.map(NonZeroU32::get)).collect();
    assert_eq!(devices, [Some(3), Some(2), None, None], "an island has no way to the peer's network");
}

#[test]
fn there_is_an_end_to_any() {
    let many: Vec<String> = (0..200).map(|n| format!("192.0.2.{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut wide = interface(2, &many);
    wide.way_out_v4 = Some(RouteRank { specific: false, metric: 100 });
    assert_eq!(any().due(&host(&[("a", wide)]), &BTreeSet::new()).len(), ADDRESSES_MAX);
}

/// Nor does an interface with many leave out another one.
#[test]
fn an_interface_with_many_addresses_leaves_room_for_others() {
    let many: Vec<String> = (0..200).map(|n| format!("192.0.2.{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let way = |metric| Some(RouteRank { specific: false, metric });
    let [mut wide, mut other] = [interface(2, &many), interface(3, &["198.51.100.7"])];
    (wide.way_out_v4, other.way_out_v4) = (way(100), way(600));
    let due = any().due(&host(&[("a", wide), ("b", other)]), &BTreeSet::new());
    assert_eq!(due.len(), ADDRESSES_MAX);
    assert_eq!(due[4].address.ip().to_string(), "198.51.100.7");
}

/// Bridges to containers: none takes the place of a network that goes, as if it were another one.
#[test]
fn islands_do_not_change_with_the_networks() {
    let islands: Vec<String> = (0..15).map(|n| format!("172.{}.0.1", 17 + n)).collect();
    let islands: Vec<&str> = islands.iter().map(String::as_str).collect();
    let mut network = interface(3, &["198.51.100.7"]);
    network.way_out_v4 = Some(RouteRank { specific: false, metric: 100 });
    let [there, gone] =
        [host(&[("a", interface(2, &islands)), ("b", network)]), host(&[("a", interface(2, &islands))])];
    let [there, gone] = [there, gone].map(|host| any().due(&host, &BTreeSet::new()));
    assert_eq!(ips(&there)[1..], ips(&gone)[..]);
    assert_eq!(gone.len(), ISLANDS_MAX);
}

#[test]
fn named_addresses_go_when_the_system_no_longer_lists_them() {
    let wanted = named(&["192.0.2.1", "127.0.0.5"]);
    let known = BTreeSet::from(["192.0.2.1".parse().unwrap()]);
    assert_eq!(ips(&wanted.due(&host(&[]), &known)), ["127.0.0.5"], "of that one the system never spoke");
    let mut down = interface(2, &["192.0.2.1", "127.0.0.5"]);
    assert_eq!(ips(&wanted.due(&host(&[("a", down.clone())]), &known)), ["192.0.2.1", "127.0.0.5"]);
    down.up = Some(false);
    assert!(wanted.due(&host(&[("a", down)]), &known).is_empty());
}

/// Addresses of which none has got a way out.
fn open_addresses<const N: usize>(addresses: [SocketAddr; N]) -> [OpenAddress; N] {
    addresses.map(|address| OpenAddress { address, new_way: false })
}

/// Loopback addresses of which some interface says that it has them.
fn open(wanted: Wanted, host: &Interfaces) -> Locals {
    Locals::open(wanted, Encapsulation::Udp, Member::ALONE, host).unwrap()
}

#[tokio::test]
async fn sockets_follow_with_one_port_and_new_ones_first() {
    let one = host(&[("a", interface(7, &["127.0.0.31"]))]);
    let other = host(&[("b", interface(8, &["127.0.0.32"]))]);
    let mut locals = open(named(&["127.0.0.31"]), &one);
    locals.wanted.named.push("127.0.0.32".parse().unwrap());
    locals.known.insert("127.0.0.32".parse().unwrap());
    let [before] = locals.addresses()[..] else { panic!() };
    let mut events = Vec::new();
    let after = SocketAddr::new("127.0.0.32".parse().unwrap(), before.port());
    assert_eq!(locals.follow(&other, &mut events), open_addresses([after]));
    let up = EndpointEvent::AddressUp { address: after, interface: Some("b".into()) };
    assert_eq!(events, [up, EndpointEvent::AddressDown { address: before }]);
    assert_eq!(locals.addresses(), [after]);
    // The old port is free again.
    drop(std::net::UdpSocket::bind(before).unwrap());
    events.clear();
    assert_eq!(locals.follow(&other, &mut events), open_addresses([after]));
    assert_eq!(events, [], "told once");
}

/// As long as the host has the address, somebody must listen there, or the host says that there is no SCTP.
#[tokio::test]
async fn without_a_carrier_the_socket_stays_and_is_silent() {
    let up = interface(7, &["127.0.0.36"]);
    let down = Interface { up: Some(false), ..up.clone() };
    let mut locals = open(named(&["127.0.0.36"]), &host(&[("a", up.clone())]));
    let address = locals.addresses()[0];
    let mut events = Vec::new();
    assert_eq!(locals.follow(&host(&[("a", down.clone())]), &mut events), []);
    assert_eq!(locals.follow(&host(&[("a", down.clone())]), &mut events), []);
    assert_eq!(events, [EndpointEvent::AddressDown { address }], "told once");
    assert!(locals.addresses().is_empty());
    assert!(std::net::UdpSocket::bind(address).is_err(), "still there");
    assert!(locals.all()[0].is_parked());
    assert_eq!(locals.follow(&host(&[("a", up)]), &mut events), open_addresses([address]));
    assert!(!locals.all()[0].is_parked());
    // Down, then gone.
    locals.follow(&host(&[("a", down)]), &mut events);
    assert_eq!(locals.follow(&host(&[]), &mut events), []);
    drop(std::net::UdpSocket::bind(address).unwrap());
}

#[tokio::test]
async fn an_address_that_cannot_be_opened_is_reported_once_and_tried_again() {
    let mut locals = open(named(&["127.0.0.33"]), &host(&[]));
    let port = locals.addresses()[0].port();
    let taken = std::net::UdpSocket::bind(("127.0.0.34", port)).unwrap();
    locals.wanted.named.push("127.0.0.34".parse().unwrap());
    let mut events = Vec::new();
    assert_eq!(locals.follow(&host(&[]), &mut events).len(), 1);
    assert_eq!(locals.follow(&host(&[]), &mut events).len(), 1);
    let [EndpointEvent::AddressRefused { reason, .. }] = &events[..] else { panic!("{events:?}") };
    assert!(reason.contains("is in use"), "{reason}");
    drop(taken);
    assert_eq!(locals.follow(&host(&[]), &mut events).len(), 2);
}

#[tokio::test]
async fn any_without_addresses_waits_for_the_first_and_keeps_its_port() {
    let mut locals = open(Wanted { port: 0, ..any() }, &host(&[]));
    assert!(locals.addresses().is_empty());
    let mut first = interface(7, &["127.0.0.35"]);
    first.addresses[0].asked_for = true;
    let mut events = Vec::new();
    locals.follow(&host(&[("a", first.clone())]), &mut events);
    let port = locals.addresses()[0].port();
    assert_ne!(port, 0);
    locals.follow(&host(&[]), &mut events);
    assert!(locals.addresses().is_empty());
    locals.follow(&host(&[("a", first)]), &mut events);
    assert_eq!(locals.addresses()[0].port(), port, "the peer knows us by it");
}
