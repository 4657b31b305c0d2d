use core::net::SocketAddr;

use proptest::prelude::*;

use super::super::{Cost, InterfaceId, InterfaceKind, InterfaceProperties, Nat64Prefix, OpenAddress};
use super::*;
use crate::ReceivedPower;

fn own_prefix() -> Nat64Prefix {
    "2001:db8:64::/96".parse().unwrap()
}

fn about_interface() -> impl Strategy<Value = InterfaceFact> {
    use InterfaceKind::{Cellular, Other, WirelessLan};
    prop_oneof![
        3 => prop_oneof![Just(WirelessLan), Just(Cellular), Just(Other)].prop_map(InterfaceFact::Up),
        3 => Just(InterfaceFact::Down),
        2 => Just(InterfaceFact::GoingDown),
        2 => Just(InterfaceFact::HandoverComplete),
        2 => (-90..-87).prop_map(|dbm: i32| InterfaceFact::Signal(ReceivedPower::from_dbm(dbm.into()))),
        2 => Just(InterfaceFact::Strongest),
        1 => (1..3_u64).prop_map(InterfaceFact::Rate),
        1 => prop_oneof![Just(Cost::Flat), Just(Cost::Metered)].prop_map(InterfaceFact::Cost),
        1 => (0..2_u8).prop_map(InterfaceFact::Rank),
        2 => Just(InterfaceFact::Selected),
        2 => prop_oneof![Just(None), Just(Some(Nat64Prefix::WELL_KNOWN)), Just(Some(own_prefix()))]
            .prop_map(InterfaceFact::Nat64),
    ]
}

/// Facts about a few things, so that they often say again what is known, or take it back.
fn fact() -> impl Strategy<Value = LinkFact> {
    let interface = || (1..4_u32).prop_map(InterfaceId);
    let address = || (1..5_u8, 1..3_u16).prop_map(|(n, port)| SocketAddr::from(([10, 0, 0, n], port)));
    prop_oneof![
        4 => (interface(), about_interface())
            .prop_map(|(interface, fact)| LinkFact::Interface { interface, fact }),
        2 => (interface(), address())
            .prop_map(|(interface, address)| LinkFact::AddressOn { interface, address: address.ip() }),
        2 => address().prop_map(LinkFact::AddressUp),
        1 => address().prop_map(LinkFact::AddressDown),
    ]
}

fn sum(links: &Links, facts: &[LinkFact]) -> Links {
    let mut links = links.clone();
    facts.iter().for_each(|fact| links.apply(fact));
    links
}

fn begun() -> Links {
    Links::new(&[SocketAddr::from(([10, 0, 0, 1], 1))])
}

/// Addresses are known by their IP address alone: whatever port is named with one that goes, the one it had is told.
fn with_known_port(links: &Links, fact: LinkFact) -> LinkFact {
    match fact {
        LinkFact::AddressDown(address) => {
            let known = links.address(address.ip()).and_then(|known| known.up);
            LinkFact::AddressDown(known.unwrap_or(address))
        }
        other => other,
    }
}

fn usable(links: &Links) -> Vec<SocketAddr> {
    let mut usable: Vec<SocketAddr> = links.usable().map(|(address, _)| address).collect();
    usable.sort();
    usable
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// What one fact changes is that fact, and what it does not change is none.
    #[test]
    fn comparing_is_the_inverse_of_adding(facts in prop::collection::vec(fact(), 1..40)) {
        let mut links = begun();
        for fact in facts {
            let next = sum(&links, &[fact]);
            let expected = if next == links { vec![] } else { vec![with_known_port(&links, fact)] };
            let before = links.clone();
            prop_assert_eq!(links.follow(&next), expected, "{:?} to {:?}", before, next);
            prop_assert_eq!(&links, &next);
        }
    }

    /// What many facts have changed comes to the same in the end.
    #[test]
    fn changes_lead_where_they_were_found(
        before in prop::collection::vec(fact(), 0..20),
        after in prop::collection::vec(fact(), 0..20),
    ) {
        let links = sum(&begun(), &before);
        let next = sum(&links, &after);
        let led = sum(&links, &links.changes_to(&next));
        prop_assert_eq!(usable(&led), usable(&next));
        for now in next.interfaces().iter().filter(|now| !now.id.is_nameless()) {
            let there = led.interface(now.id).is_none_or(|there| there.up);
            prop_assert_eq!(there, now.up);
        }
    }
}

fn on(interface: u32, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(interface), fact }
}

/// Wi-Fi goes and the modem comes, all seen at once.
#[test]
fn what_comes_is_told_before_what_goes() {
    let [wlan, wwan, tethered] = [1, 2, 3].map(|n| SocketAddr::from(([10, 0, 0, n], 1)));
    let mut links = Links::new(&[wlan, wwan]);
    links.apply(&LinkFact::AddressDown(wwan));
    let wifi = InterfaceProperties { kind: Some(InterfaceKind::WirelessLan), ..Default::default() };
    links.set_interface(InterfaceId(1), true, wifi);
    links.place(wlan.ip(), InterfaceId(1));

    let mut next = links.clone();
    let signal = ReceivedPower::from_dbm(-90.0);
    let modem = InterfaceProperties {
        kind: Some(InterfaceKind::Cellular),
        signal: Some(signal),
        rate: Some(20),
        cost: Some(Cost::Metered),
        rank: Some(1),
        going_down: true,
        warnings: 1,
        handovers: 1,
        orders: 1,
        nat64: Some(own_prefix()),
    };
    next.set_open(&[tethered, wwan].map(|address| OpenAddress { address, new_way: false }));
    next.set_interface(InterfaceId(1), false, wifi);
    next.set_interface(InterfaceId(2), true, modem);
    next.place(wwan.ip(), InterfaceId(2));
    next.set_strongest(Some(InterfaceId(2)));
    let expected = [
        on(2, InterfaceFact::Up(InterfaceKind::Cellular)),
        on(2, InterfaceFact::Rank(1)),
        on(2, InterfaceFact::Cost(Cost::Metered)),
        on(2, InterfaceFact::Rate(20)),
        on(2, InterfaceFact::Signal(signal)),
        on(2, InterfaceFact::HandoverComplete),
        on(2, InterfaceFact::Selected),
        on(2, InterfaceFact::Nat64(modem.nat64)),
        on(2, InterfaceFact::GoingDown),
        LinkFact::AddressOn { interface: InterfaceId(2), address: wwan.ip() },
        on(2, InterfaceFact::Strongest),
        LinkFact::AddressUp(tethered),
        LinkFact::AddressUp(wwan),
        on(1, InterfaceFact::Down),
        LinkFact::AddressDown(wlan),
    ];
    assert_eq!(links.follow(&next), expected);
    assert!(links.interface(InterfaceId(2)).is_some_and(|modem| modem.selected));
    assert_eq!(links.follow(&next), []);
}

/// What can happen again counts, each time that it rises.
#[test]
fn what_happens_again_is_told_again() {
    let address = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut links = Links::new(&[address]);
    let mut said = InterfaceProperties { handovers: 5, orders: 5, ..Default::default() };
    links.set_interface(InterfaceId(1), true, said);
    let mut next = links.clone();
    next.set_open(&[OpenAddress { address, new_way: true }]);
    assert_eq!(links.follow(&next), [LinkFact::AddressUp(address)]);
    for (handovers, orders, expected) in [
        (6, 5, vec![on(1, InterfaceFact::HandoverComplete)]),
        (6, 6, vec![on(1, InterfaceFact::Selected)]),
        // Who counted is gone.
        (0, 0, vec![]),
        (1, 0, vec![on(1, InterfaceFact::HandoverComplete)]),
    ] {
        (said.handovers, said.orders) = (handovers, orders);
        next.set_interface(InterfaceId(1), true, said);
        assert_eq!(links.follow(&next), expected);
    }
    said.going_down = true;
    for warnings in [0, 1, 2] {
        said.warnings = warnings;
        next.set_interface(InterfaceId(1), true, said);
        assert_eq!(links.follow(&next), [on(1, InterfaceFact::GoingDown)]);
        assert_eq!(links.follow(&next), []);
    }
}
