use super::super::InterfaceAddress;
use super::*;

fn wifi(index: u32, addresses: &[&str]) -> Interface {
    let addresses = addresses.iter().map(|ip| InterfaceAddress { ip: ip.parse().unwrap(), asked_for: false });
    Interface {
        index: NonZeroU32::new(index),
        kind: Some(InterfaceKind::Wifi),
        up: Some(true),
        addresses: addresses.collect(),
        ..Interface::default()
    }
}

fn one(interface: &Interface) -> Interfaces {
    Interfaces([("wlan0".to_owned(), interface.clone())].into())
}

fn on(number: u32, fact: InterfaceFact) -> LinkFact {
    about(InterfaceId(number), fact)
}

#[test]
fn an_interface_comes_changes_and_goes() {
    let mut teller = FactTeller::default();
    let mut interface = wifi(3, &["192.0.2.7"]);
    interface.metered = Some(true);
    interface.rank = Some(1);
    interface.bits_per_second = Some(54_000_000);
    let address_on = LinkFact::AddressOn { interface: InterfaceId(3), address: "192.0.2.7".parse().unwrap() };
    let facts = teller.tell(&one(&interface));
    assert_eq!(
        facts.rising,
        [
            on(3, InterfaceFact::Up(MachineKind::WirelessLan)),
            on(3, InterfaceFact::Rank(1)),
            on(3, InterfaceFact::Cost(Cost::Metered)),
            on(3, InterfaceFact::Rate(54_000_000)),
            address_on,
        ]
    );
    assert_eq!(teller.tell(&one(&interface)), Facts::default(), "told once");

    interface.signal_dbm = Some(-60.0);
    let signal = on(3, InterfaceFact::Signal(ReceivedPower::from_dbm(-60.0)));
    assert_eq!(teller.tell(&one(&interface)).rising, [signal, on(3, InterfaceFact::Strongest)]);
    interface.going_down = true;
    interface.handovers += 1;
    interface.orders += 1;
    let told = [InterfaceFact::HandoverComplete, InterfaceFact::Selected, InterfaceFact::GoingDown];
    assert_eq!(teller.tell(&one(&interface)).rising, told.map(|fact| on(3, fact)));

    interface.up = Some(false);
    assert_eq!(teller.tell(&one(&interface)).falling, [on(3, InterfaceFact::Down)]);
    interface.up = Some(true);
    let facts = teller.tell(&one(&interface));
    assert!(facts.rising.contains(&on(3, InterfaceFact::Up(MachineKind::WirelessLan))), "{facts:?}");
    assert!(facts.rising.contains(&signal), "forgotten with the interface, so told again: {facts:?}");
    assert_eq!(teller.tell(&Interfaces::default()).falling, [on(3, InterfaceFact::Down)]);
    assert_eq!(teller.tell(&Interfaces::default()), Facts::default());
}

/// A stick that is pulled and put back has the same name and another number.
#[test]
fn the_same_name_with_another_number_is_another_interface() {
    let mut teller = FactTeller::default();
    teller.tell(&one(&wifi(3, &["192.0.2.7"])));
    let facts = teller.tell(&one(&wifi(9, &["192.0.2.7"])));
    assert_eq!(facts.falling, [on(3, InterfaceFact::Down)]);
    let address_on = LinkFact::AddressOn { interface: InterfaceId(9), address: "192.0.2.7".parse().unwrap() };
    assert_eq!(facts.rising, [on(9, InterfaceFact::Up(MachineKind::WirelessLan)), address_on]);
}

#[test]
fn interfaces_without_a_number_get_one_that_no_other_has() {
    let mut teller = FactTeller::default();
    let nameless = Interface { index: None, ..wifi(1, &[]) };
    let all = ["a", "b"].map(|name| (name.to_owned(), nameless.clone()));
    let facts = teller.tell(&Interfaces(all.into()));
    let ids = facts.rising.iter().map(|fact| match fact {
        LinkFact::Interface { interface, .. } => interface.0,
        other => panic!("{other:?}"),
    });
    let ids: Vec<u32> = ids.collect();
    assert!(ids.len() == 2 && ids[0] != ids[1] && ids.iter().all(|id| *id >= OWN_NUMBERS), "{ids:?}");
}

#[test]
fn the_strongest_is_told_when_it_changes() {
    let mut teller = FactTeller::default();
    let mut tell = |signals: [f64; 2]| {
        let all = [("a", 1, signals[0]), ("b", 2, signals[1])].map(|(name, index, dbm)| {
            (name.to_owned(), Interface { signal_dbm: Some(dbm), ..wifi(index, &[]) })
        });
        let facts = teller.tell(&Interfaces(all.into())).rising;
        facts
            .into_iter()
            .find(|fact| matches!(fact, LinkFact::Interface { fact: InterfaceFact::Strongest, .. }))
    };
    assert_eq!(tell([-60.0, -70.0]), Some(on(1, InterfaceFact::Strongest)));
    assert_eq!(tell([-65.0, -66.0]), None);
    assert_eq!(tell([-67.0, -66.0]), Some(on(2, InterfaceFact::Strongest)));
}

#[test]
fn an_address_that_moves_is_told() {
    let mut teller = FactTeller::default();
    let both = |first_up: bool| {
        let mut first = wifi(1, &["192.0.2.7"]);
        first.up = Some(first_up);
        Interfaces([("a".to_owned(), first), ("b".to_owned(), wifi(2, &["192.0.2.7"]))].into())
    };
    let moved = |number| LinkFact::AddressOn {
        interface: InterfaceId(number),
        address: "192.0.2.7".parse().unwrap(),
    };
    assert!(teller.tell(&both(false)).rising.contains(&moved(2)));
    // Both up: the one seen last; in either case one of them.
    let mut only_a = both(true);
    only_a.0.remove("b");
    assert!(teller.tell(&only_a).rising.contains(&moved(1)));
}
