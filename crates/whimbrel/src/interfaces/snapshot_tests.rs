use whimbrel_machine::{Cost, InterfaceFact, InterfaceKind, LinkFact};

use super::super::{InterfaceAddress, RouteRank};
use super::*;

fn wifi(index: u32, addresses: &[&str]) -> Interface {
    let addresses = addresses.iter().map(|ip| InterfaceAddress { ip: ip.parse().unwrap(), asked_for: false });
    Interface {
        index: NonZeroU32::new(index),
        up: Some(true),
        addresses: addresses.collect(),
        properties: InterfaceProperties { kind: Some(InterfaceKind::WirelessLan), ..Default::default() },
        ..Interface::default()
    }
}

fn one(interface: &Interface) -> Interfaces {
    Interfaces([("wlan0".to_owned(), interface.clone())].into())
}

fn on(number: u32, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(number), fact }
}

fn up(number: u32) -> LinkFact {
    on(number, InterfaceFact::Up(InterfaceKind::WirelessLan))
}

fn address_on(number: u32) -> LinkFact {
    LinkFact::AddressOn { interface: InterfaceId(number), address: "192.0.2.7".parse().unwrap() }
}

/// A machine that is told of links.
#[derive(Default)]
struct Told {
    writer: LinkWriter,
    links: Links,
}

impl Told {
    /// What it finds changed.
    fn tell(&mut self, interfaces: &Interfaces) -> Vec<LinkFact> {
        let mut next = self.links.clone();
        self.writer.write(interfaces, &mut next);
        self.links.follow(&next)
    }
}

#[test]
fn an_interface_comes_changes_and_goes() {
    let mut told = Told::default();
    let mut interface = wifi(3, &["192.0.2.7"]);
    interface.properties.cost = Some(Cost::Metered);
    interface.properties.rank = Some(1);
    interface.properties.rate = Some(54_000_000);
    let expected = [
        up(3),
        on(3, InterfaceFact::Rank(1)),
        on(3, InterfaceFact::Cost(Cost::Metered)),
        on(3, InterfaceFact::Rate(54_000_000)),
        address_on(3),
    ];
    assert_eq!(told.tell(&one(&interface)), expected);
    assert_eq!(told.tell(&one(&interface)), [], "told once");

    let power = ReceivedPower::from_dbm(-60.0);
    interface.properties.signal = Some(power);
    let signal = on(3, InterfaceFact::Signal(power));
    assert_eq!(told.tell(&one(&interface)), [signal, on(3, InterfaceFact::Strongest)]);
    interface.properties.going_down = true;
    interface.properties.handovers += 1;
    interface.properties.orders += 1;
    let news = [InterfaceFact::HandoverComplete, InterfaceFact::Selected, InterfaceFact::GoingDown];
    assert_eq!(told.tell(&one(&interface)), news.map(|fact| on(3, fact)));

    interface.up = Some(false);
    assert_eq!(told.tell(&one(&interface)), [on(3, InterfaceFact::Down)]);
    interface.up = Some(true);
    let facts = told.tell(&one(&interface));
    let expected = [up(3), signal, on(3, InterfaceFact::Strongest)];
    assert_eq!(facts, expected, "the signal was forgotten with the interface, so it is told again");
    assert_eq!(told.tell(&Interfaces::default()), [on(3, InterfaceFact::Down)]);
    assert_eq!(told.tell(&Interfaces::default()), []);
}

/// Fact files do not take warnings back.
#[test]
fn a_warning_that_something_has_overtaken_counts_no_more_until_there_is_a_new_one() {
    let mut told = Told::default();
    let mut interface = wifi(3, &[]);
    let going_down = on(3, InterfaceFact::GoingDown);
    interface.properties.going_down = true;
    interface.properties.warnings = 1;
    assert_eq!(told.tell(&one(&interface)), [up(3), going_down]);
    interface.properties.rank = Some(0);
    assert_eq!(told.tell(&one(&interface)), [on(3, InterfaceFact::Rank(0))], "it stands");
    assert!(told.links.interfaces()[0].properties.going_down);
    interface.properties.handovers = 1;
    assert_eq!(told.tell(&one(&interface)), [on(3, InterfaceFact::HandoverComplete)]);
    interface.properties.rank = Some(1);
    told.tell(&one(&interface));
    assert!(!told.links.interfaces()[0].properties.going_down);
    interface.properties.warnings = 2;
    assert_eq!(told.tell(&one(&interface)), [going_down]);
    for up in [false, true] {
        interface.up = Some(up);
        told.tell(&one(&interface));
    }
    assert!(!told.links.interfaces()[0].properties.going_down);
    // Who does not count says it anew after taking it back.
    for said in [false, true] {
        interface.properties.going_down = said;
        assert_eq!(told.tell(&one(&interface)), if said { vec![going_down] } else { vec![] });
    }
    interface.properties.going_down = false;
    assert_eq!(told.tell(&one(&interface)), [up(3)], "taken back");
}

/// A stick that is pulled and put back has the same name and another number.
#[test]
fn the_same_name_with_another_number_is_another_interface() {
    let mut told = Told::default();
    told.tell(&one(&wifi(3, &["192.0.2.7"])));
    let expected = [up(9), address_on(9), on(3, InterfaceFact::Down)];
    assert_eq!(told.tell(&one(&wifi(9, &["192.0.2.7"]))), expected);
}

#[test]
fn however_often_a_stick_is_pulled_and_put_back_it_is_known() {
    let mut told = Told::default();
    for _ in 0..1000 {
        let facts = told.tell(&one(&Interface { index: None, ..wifi(1, &["192.0.2.7"]) }));
        let [LinkFact::Interface { interface, fact: InterfaceFact::Up(_) }, LinkFact::AddressOn { .. }] =
            facts[..]
        else {
            panic!("{facts:?}")
        };
        assert_eq!(told.tell(&Interfaces::default()), [on(interface.0, InterfaceFact::Down)]);
    }
}

#[test]
fn interfaces_without_a_number_get_one_that_no_other_has() {
    let mut told = Told::default();
    let nameless = Interface { index: None, ..wifi(1, &[]) };
    let all = ["a", "b"].map(|name| (name.to_owned(), nameless.clone()));
    told.tell(&Interfaces(all.into()));
    let [a, b] = told.links.interfaces() else { panic!("{:?}", told.links) };
    assert!(a.id != b.id && [a, b].iter().all(|one| one.id.0 >= OWN_NUMBERS && !one.id.is_nameless()));
}

#[test]
fn an_interface_that_is_only_talked_about_is_none_of_the_machines_business() {
    let mut told = Told::default();
    let mut interface = Interface { up: None, ..wifi(3, &[]) };
    interface.properties.rank = Some(0);
    assert_eq!(told.tell(&one(&interface)), []);
    interface.up = Some(true);
    assert_eq!(told.tell(&one(&interface)), [up(3), on(3, InterfaceFact::Rank(0))]);
}

#[test]
fn the_strongest_is_told_when_it_changes() {
    let mut told = Told::default();
    let mut tell = |signals: [f64; 2]| {
        let all = [("a", 1, signals[0]), ("b", 2, signals[1])].map(|(name, index, dbm)| {
            let mut interface = wifi(index, &[]);
            interface.properties.signal = Some(ReceivedPower::from_dbm(dbm));
            (name.to_owned(), interface)
        });
        let facts = told.tell(&Interfaces(all.into()));
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
    let mut told = Told::default();
    let both = |first_up: bool| {
        let mut first = wifi(1, &["192.0.2.7"]);
        first.up = Some(first_up);
        Interfaces([("a".to_owned(), first), ("b".to_owned(), wifi(2, &["192.0.2.7"]))].into())
    };
    assert!(told.tell(&both(false)).contains(&address_on(2)));
    // Both up: the one seen last; in either case one of them.
    let mut only_a = both(true);
    only_a.0.remove("b");
    assert!(told.tell(&only_a).contains(&address_on(1)));
}

fn many(all: &[(&str, &Interface)]) -> Interfaces {
    Interfaces(all.iter().map(|(n, i)| ((*n).to_owned(), (*i).clone())).collect())
}

fn is_up(told: &Told, n: u32) -> bool {
    told.links.interface(InterfaceId(n)).is_some_and(|i| i.up)
}

/// Names move on by one number in one snapshot (pulled, put back and renamed between two looks).
#[test]
fn numbers_may_move_on_between_names() {
    let mut told = Told::default();
    told.tell(&many(&[("wwan0", &wifi(5, &["10.0.0.5"])), ("wwan1", &wifi(6, &["10.0.0.6"]))]));
    assert!(is_up(&told, 5) && is_up(&told, 6));
    let facts = told.tell(&many(&[("wwan0", &wifi(6, &["10.0.0.6"])), ("wwan1", &wifi(7, &["10.0.0.7"]))]));
    assert!(is_up(&told, 7) && is_up(&told, 6), "{facts:?}");
}

/// Two interfaces swap their names.
#[test]
fn names_may_be_swapped() {
    let mut told = Told::default();
    told.tell(&many(&[("eth0", &wifi(5, &["10.0.0.5"])), ("eth1", &wifi(6, &["10.0.0.6"]))]));
    let facts = told.tell(&many(&[("eth0", &wifi(6, &["10.0.0.6"])), ("eth1", &wifi(5, &["10.0.0.5"]))]));
    assert!(is_up(&told, 5) && is_up(&told, 6), "{facts:?}");
    assert_eq!(facts, []);
}

/// One address on two interfaces that are both up: the links and the socket agree on where it is, and it is where the system would leave.
#[test]
fn an_address_on_two_interfaces_belongs_to_the_better_one() {
    let ip = "10.0.0.5".parse().unwrap();
    let route = |metric| Some(RouteRank { specific: false, metric });
    for (metrics, place) in [
        ([None, None], 5),
        ([None, route(9)], 6),
        ([route(100), route(200)], 5),
        ([route(200), route(100)], 6),
    ] {
        let mut told = Told::default();
        let [first, second] = metrics.map(|way_out_v4| move |one| Interface { way_out_v4, ..one });
        let (first, second) = (first(wifi(5, &["10.0.0.5"])), second(wifi(6, &["10.0.0.5"])));
        let both = many(&[("eth0", &first), ("eth1", &second)]);
        told.tell(&both);
        let (_, socket) = both.with_address(ip).unwrap();
        assert_eq!(told.links.interface_of(ip), socket.index.map(|i| InterfaceId(i.get())));
        assert_eq!(told.links.interface_of(ip), Some(InterfaceId(place)), "{metrics:?}");
    }
}

/// Thousands of addresses on one interface, one of which is open.
#[test]
fn an_open_address_among_thousands_keeps_its_interface() {
    let mut names: Vec<String> = (0..3000).map(|n| format!("10.1.{}.{}", n / 250, n % 250)).collect();
    names.insert(0, "10.0.0.1".to_owned());
    let host = one(&wifi(5, &names.iter().map(String::as_str).collect::<Vec<_>>()));
    let open = [whimbrel_machine::OpenAddress { address: "10.0.0.1:9899".parse().unwrap(), new_way: false }];
    let (mut writer, mut links) = (LinkWriter::default(), Links::default());
    for round in 0..4 {
        let mut next = links.clone();
        next.set_open(&open);
        writer.write(&host, &mut next);
        let facts = links.follow(&next);
        assert_eq!(links.interface_of(open[0].address.ip()), Some(InterfaceId(5)), "round {round}");
        assert!(round == 0 || facts.is_empty(), "round {round}: {} facts of nothing", facts.len());
    }
}
