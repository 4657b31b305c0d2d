use whimbrel_machine::ReceivedPower;

use super::*;

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 9899))
}

fn about(interface: u32, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(interface), fact }
}

fn usable(all: &Interfaces) -> Vec<SocketAddr> {
    all.usable().map(|(address, _)| address).collect()
}

#[test]
fn an_interface_that_is_down_takes_its_addresses_with_it() {
    let mut all = Interfaces::new(&[address(1), address(2)]);
    all.apply(&LinkFact::AddressOn { interface: InterfaceId(7), address: address(1).ip() });
    all.apply(&about(7, InterfaceFact::Up(InterfaceKind::WirelessLan)));
    assert_eq!(usable(&all), [address(1), address(2)]);
    all.apply(&about(7, InterfaceFact::Down));
    assert_eq!(usable(&all), [address(2)]);
    all.apply(&about(7, InterfaceFact::Up(InterfaceKind::WirelessLan)));
    assert_eq!(usable(&all), [address(1), address(2)]);
    all.apply(&LinkFact::AddressDown(address(1)));
    assert_eq!(usable(&all), [address(2)]);
}

#[test]
fn an_address_without_an_interface_gets_one_of_its_own() {
    let mut all = Interfaces::new(&[address(1), address(2)]);
    let made_up = all.interface_of(address(1).ip()).unwrap();
    assert_ne!(all.interface_of(address(2).ip()), Some(made_up));
    all.apply(&LinkFact::AddressOn { interface: InterfaceId(3), address: address(1).ip() });
    assert_eq!(all.interface_of(address(1).ip()), Some(InterfaceId(3)));
    assert!(all.list().iter().all(|interface| interface.id != made_up), "it is of no use any more");
}

#[test]
fn only_one_interface_is_the_strongest_and_only_one_selected() {
    let mut all = Interfaces::default();
    for id in [1, 2] {
        all.apply(&about(id, InterfaceFact::Strongest));
        all.apply(&about(id, InterfaceFact::Selected));
    }
    assert!(!all.list()[0].strongest && !all.list()[0].selected);
    assert!(all.list()[1].strongest && all.list()[1].selected);
    all.apply(&about(1, InterfaceFact::Signal(ReceivedPower::from_dbm(-50.0))));
    all.apply(&about(1, InterfaceFact::Down));
    assert_eq!(all.list()[0].signal, None, "an old reading says nothing about the next access point");
}

#[test]
fn interfaces_and_addresses_are_bounded() {
    let mut all = Interfaces::default();
    for n in 0..10_000_u32 {
        all.apply(&about(n, InterfaceFact::GoingDown));
        let [_, _, high, low] = n.to_be_bytes();
        all.apply(&LinkFact::AddressUp(SocketAddr::from(([10, 1, high, low], 1))));
    }
    assert_eq!(all.list().len(), MAX_INTERFACES);
    assert_eq!(all.addresses.len(), MAX_ADDRESSES);
    let newest = SocketAddr::from(([10, 2, 0, 1], 1));
    all.apply(&LinkFact::AddressUp(newest));
    assert!(!usable(&all).contains(&newest), "no room while all are in use");
    all.apply(&LinkFact::AddressDown(SocketAddr::from(([10, 1, 0, 0], 1))));
    all.apply(&LinkFact::AddressUp(newest));
    assert!(usable(&all).contains(&newest));
    assert_eq!(all.addresses.len(), MAX_ADDRESSES);
}
