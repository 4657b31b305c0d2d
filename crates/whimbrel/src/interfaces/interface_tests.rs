use whimbrel_machine::{Cost, ReceivedPower};

use super::*;

fn address(text: &str, asked_for: bool) -> InterfaceAddress {
    InterfaceAddress { ip: text.parse().unwrap(), asked_for }
}

fn only(interface: Interface) -> Interfaces {
    Interfaces([("x".to_owned(), interface)].into())
}

fn merged(sources: &[Interface]) -> Interface {
    let sources: Vec<_> = sources.iter().cloned().map(only).collect();
    Interfaces::merged(&sources).0.remove("x").unwrap()
}

#[test]
fn an_interface_is_up_if_nobody_says_it_is_down() {
    for (said, up) in [
        (&[None, None][..], true),
        (&[Some(true), None], true),
        (&[Some(true), Some(false)], false),
        (&[Some(false), Some(true)], false),
        (&[None, Some(false), None], false),
    ] {
        let sources: Vec<_> = said.iter().map(|&up| Interface { up, ..Interface::default() }).collect();
        assert_eq!(merged(&sources).is_up(), up, "{said:?}");
    }
}

#[test]
fn addresses_are_united_and_the_last_word_counts_for_the_rest() {
    let signal = Some(ReceivedPower::from_dbm(-50.0));
    let kernel = Interface {
        addresses: vec![address("192.0.2.1", false), address("127.0.0.1", false)],
        properties: InterfaceProperties {
            cost: Some(Cost::Flat),
            signal,
            rank: Some(3),
            handovers: 1,
            ..InterfaceProperties::default()
        },
        way_out_v4: Some(RouteRank { specific: false, metric: 600 }),
        ..Interface::default()
    };
    let user = Interface {
        addresses: vec![address("127.0.0.1", true), address("192.0.2.2", true)],
        properties: InterfaceProperties {
            cost: Some(Cost::Metered),
            going_down: true,
            handovers: 2,
            ..InterfaceProperties::default()
        },
        way_out_v4: Some(RouteRank { specific: true, metric: 1 }),
        ..Interface::default()
    };
    let both = merged(&[kernel, user]);
    let expected = [address("192.0.2.1", false), address("127.0.0.1", true), address("192.0.2.2", true)];
    assert_eq!(both.addresses, expected);
    let expected = InterfaceProperties {
        cost: Some(Cost::Metered),
        signal,
        rank: Some(3),
        going_down: true,
        handovers: 3,
        ..InterfaceProperties::default()
    };
    assert_eq!(both.properties, expected);
    assert_eq!(both.way_out_v4, Some(RouteRank { specific: false, metric: 600 }), "a default route is best");
}

#[test]
fn an_interface_that_is_only_talked_about_is_not_present() {
    let talked_about = Interface {
        properties: InterfaceProperties { rank: Some(0), ..InterfaceProperties::default() },
        ..Interface::default()
    };
    assert!(talked_about.is_up() && !talked_about.is_present());
    let with_address = Interface { addresses: vec![address("192.0.2.1", false)], ..Interface::default() };
    assert!(with_address.is_present());
    assert!(!Interface { up: Some(false), ..with_address }.is_present());
}

#[test]
fn the_holder_that_is_up_is_found_first() {
    let addresses = vec![address("192.0.2.1", false)];
    let down = Interface { up: Some(false), addresses: addresses.clone(), ..Interface::default() };
    let up = Interface { up: Some(true), addresses, ..Interface::default() };
    let interfaces = Interfaces([("a".to_owned(), down), ("b".to_owned(), up)].into());
    assert_eq!(interfaces.with_address("192.0.2.1".parse().unwrap()).unwrap().0, "b");
    assert_eq!(interfaces.with_address("192.0.2.9".parse().unwrap()), None);
}
