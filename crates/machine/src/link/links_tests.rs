use super::super::InterfaceKind;
use super::*;
use crate::ReceivedPower;

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 9899))
}

fn about(interface: u32, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(interface), fact }
}

fn usable(links: &Links) -> Vec<SocketAddr> {
    links.usable().map(|(address, _)| address).collect()
}

#[test]
fn an_interface_that_is_down_takes_its_addresses_with_it() {
    let mut links = Links::new(&[address(1), address(2)]);
    links.apply(&LinkFact::AddressOn { interface: InterfaceId(7), address: address(1).ip() });
    links.apply(&about(7, InterfaceFact::Up(InterfaceKind::WirelessLan)));
    assert_eq!(usable(&links), [address(1), address(2)]);
    links.apply(&about(7, InterfaceFact::Down));
    assert_eq!(usable(&links), [address(2)]);
    links.apply(&about(7, InterfaceFact::Up(InterfaceKind::WirelessLan)));
    assert_eq!(usable(&links), [address(1), address(2)]);
    links.apply(&LinkFact::AddressDown(address(1)));
    assert_eq!(usable(&links), [address(2)]);
}

#[test]
fn an_address_without_an_interface_gets_one_of_its_own() {
    let mut links = Links::new(&[address(1), address(2)]);
    let made_up = links.interface_of(address(1).ip()).unwrap();
    assert!(made_up.is_nameless());
    assert_ne!(links.interface_of(address(2).ip()), Some(made_up));
    links.apply(&LinkFact::AddressOn { interface: InterfaceId(3), address: address(1).ip() });
    assert_eq!(links.interface_of(address(1).ip()), Some(InterfaceId(3)));
    assert_eq!(links.interface(made_up), None, "it is of no use any more");
}

#[test]
fn only_one_interface_is_the_strongest_and_only_one_selected() {
    let mut links = Links::default();
    for id in [1, 2] {
        links.apply(&about(id, InterfaceFact::Strongest));
        links.apply(&about(id, InterfaceFact::Selected));
    }
    let [first, second] = links.interfaces() else { panic!("{links:?}") };
    assert!(!first.strongest && !first.selected);
    assert!(second.strongest && second.selected);
    links.apply(&about(1, InterfaceFact::Signal(ReceivedPower::from_dbm(-50.0))));
    links.apply(&about(1, InterfaceFact::Down));
    let signal = links.interfaces()[0].properties.signal;
    assert_eq!(signal, None, "an old reading says nothing about the next access point");
}

#[test]
fn interfaces_and_addresses_are_bounded() {
    let mut links = Links::default();
    for n in 0..10_000_u32 {
        links.apply(&about(n, InterfaceFact::GoingDown));
        let [_, _, high, low] = n.to_be_bytes();
        links.apply(&LinkFact::AddressUp(SocketAddr::from(([10, 1, high, low], 1))));
    }
    assert_eq!(links.interfaces().len(), MAX_INTERFACES);
    assert_eq!(links.addresses.len(), MAX_ADDRESSES);
    let newest = SocketAddr::from(([10, 2, 0, 1], 1));
    links.apply(&LinkFact::AddressUp(newest));
    assert!(!usable(&links).contains(&newest), "no room while all are in use");
    links.apply(&LinkFact::AddressDown(SocketAddr::from(([10, 1, 0, 0], 1))));
    links.apply(&LinkFact::AddressUp(newest));
    assert!(usable(&links).contains(&newest));
    assert_eq!(links.addresses.len(), MAX_ADDRESSES);
}

#[test]
fn an_interface_that_is_gone_makes_room() {
    let mut links = Links::new(&[address(1)]);
    links.apply(&LinkFact::AddressOn { interface: InterfaceId(0), address: address(1).ip() });
    links.apply(&about(0, InterfaceFact::Down));
    for n in 1..1000 {
        links.set_interface(InterfaceId(n), true, InterfaceProperties::default());
        assert!(links.interface(InterfaceId(n)).is_some_and(|interface| interface.up), "{n}");
        links.set_interface(InterfaceId(n), false, InterfaceProperties::default());
    }
    assert_eq!(links.interfaces().len(), MAX_INTERFACES);
    assert!(usable(&links).is_empty(), "the one whose address would come back with it stays");
    links.set_interface(InterfaceId(5000), false, InterfaceProperties::default());
    assert_eq!(links.interface(InterfaceId(5000)), None, "it was never there");
}

#[test]
fn what_is_down_has_no_signal_no_translator_and_no_warning() {
    let signal = Some(ReceivedPower::from_dbm(-50.0));
    let nat64 = Some(Nat64Prefix::WELL_KNOWN);
    let said = InterfaceProperties { signal, nat64, going_down: true, rank: Some(1), ..Default::default() };
    let mut links = Links::default();
    links.set_interface(InterfaceId(1), true, said);
    assert_eq!(links.interfaces()[0].properties, said);
    links.set_interface(InterfaceId(1), false, said);
    let rank_only = InterfaceProperties { signal: None, nat64: None, going_down: false, ..said };
    assert_eq!(links.interfaces()[0].properties, rank_only);
}

/// Of what can be used now, and of IPv6 alone: who has an IPv4 address there needs no translator for it.
#[test]
fn each_ipv6_address_knows_the_translator_of_its_network() {
    let v6 =
        |n: u8| SocketAddr::from((core::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n.into()), 9899));
    let mut links = Links::new(&[v6(1), v6(2), v6(3), address(1)]);
    let prefix: Nat64Prefix = "2001:db8:64::/96".parse().unwrap();
    for (n, nat64) in [(1, Some(prefix)), (2, None), (3, Some(Nat64Prefix::WELL_KNOWN))] {
        links.set_interface(InterfaceId(n), true, InterfaceProperties { nat64, ..Default::default() });
        links.place(v6(n as u8).ip(), InterfaceId(n));
    }
    links.place(address(1).ip(), InterfaceId(1));
    let told = |links: &Links| links.nat64().collect::<Vec<_>>();
    assert_eq!(told(&links), [(v6(1).ip(), prefix), (v6(3).ip(), Nat64Prefix::WELL_KNOWN)]);
    links.apply(&about(3, InterfaceFact::Down));
    links.apply(&about(2, InterfaceFact::Nat64(Some(prefix))));
    assert_eq!(told(&links), [(v6(1).ip(), prefix), (v6(2).ip(), prefix)]);
    links.apply(&about(3, InterfaceFact::Up(InterfaceKind::Other)));
    links.apply(&about(1, InterfaceFact::Nat64(None)));
    assert_eq!(told(&links), [(v6(2).ip(), prefix)], "another network may be there when it comes back");
}

#[test]
fn the_open_addresses_are_up_and_no_others() {
    let mut links = Links::new(&[address(1), address(2)]);
    let open = [3, 2].map(|n| OpenAddress { address: address(n), new_way: false });
    links.set_open(&open);
    assert_eq!(usable(&links), [address(2), address(3)]);
    let before = links.clone();
    links.set_open(&open);
    assert_eq!(links, before);
    links.place(address(2).ip(), InterfaceId(1));
    assert_eq!(links, before, "there is no such interface");
}
