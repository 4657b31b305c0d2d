//! A NAT box between a host and the rest of the world.
mod common;

use core::net::SocketAddr;
use core::time::Duration;

use common::{Command, Event, Log, Toy, ip};
use whimbrel_machine::{Route, Seed, Unreachable};
use whimbrel_netsim::{Action, DropReason, HostId, InterfaceId, LinkConfig, LinkId, Oversize, World};

const SECOND: Duration = Duration::from_secs(1);

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// A host behind a box, one in the world that echoes, and the link between.
fn world(config: LinkConfig) -> (World<Toy, Log>, HostId, HostId, InterfaceId, LinkId) {
    let mut world = World::new(Seed::from_u64(1));
    let a = world.add_host("a", Toy::default(), Log::default());
    let b = world.add_host("b", Toy::echo(), Log::default());
    let ia = world.add_interface(a, [ip("10.0.0.1")]);
    let ib = world.add_interface(b, [ip("198.51.100.1")]);
    let link = world.add_link(ia, ib, config, config);
    world.add_nat(ia, ip("203.0.113.1"), SECOND * 30);
    (world, a, b, ia, link)
}

fn out() -> Route {
    Route { local: socket("10.0.0.1:9899"), remote: socket("198.51.100.1:9899") }
}

fn send(world: &mut World<Toy, Log>, from: HostId, route: Route, bytes: usize) {
    world.act(Action::Command(from, Command::Send { route, bytes, count: 1 }));
    world.run_for(SECOND);
}

fn routes(world: &World<Toy, Log>, host: HostId) -> Vec<Route> {
    let received = world.app(host).events.iter().filter_map(|(_, event)| match event {
        Event::Received { route, .. } => Some(*route),
        _ => None,
    });
    received.collect()
}

#[test]
fn the_answer_comes_back_to_who_asked() {
    let (mut world, a, b, ..) = world(LinkConfig::default());
    send(&mut world, a, out(), 100);
    let seen = routes(&world, b)[0];
    assert_eq!(seen.remote.ip(), ip("203.0.113.1"));
    assert_ne!(seen.remote.port(), 9899);
    assert_eq!(routes(&world, a), [out()], "as if there were no box");
}

#[test]
fn what_nobody_asked_for_stays_outside() {
    let (mut world, a, b, ia, _) = world(LinkConfig::default());
    for remote in ["203.0.113.1:9899", "10.0.0.1:9899"] {
        send(&mut world, b, Route { local: socket("198.51.100.1:9899"), remote: socket(remote) }, 100);
    }
    assert_eq!(world.stray_drops(DropReason::Nat), 2);
    send(&mut world, a, out(), 100);
    let seen = routes(&world, b)[0];
    world.act(Action::ForgetMappings(ia));
    send(&mut world, b, seen, 100);
    assert_eq!(world.stray_drops(DropReason::Nat), 3);
    assert_eq!(routes(&world, a).len(), 1);
    send(&mut world, a, out(), 100);
    assert_ne!(routes(&world, b)[1], seen, "another port");
}

#[test]
fn an_icmp_error_finds_the_way_back() {
    let narrow = LinkConfig { mtu: 500, oversize: Oversize::Reported, ..LinkConfig::default() };
    let (mut world, a, ..) = world(narrow);
    send(&mut world, a, out(), 1000);
    let told = world.app(a).events.iter().any(|(_, event)| {
        matches!(event, Event::Unreachable { route, reason: Unreachable::PacketTooBig { mtu: 500 }, .. } if *route == out())
    });
    assert!(told);
}

/// A host with IPv6 alone and one with IPv4 alone.
#[test]
fn a_translator_joins_the_families() {
    let mut world = World::new(Seed::from_u64(1));
    let a = world.add_host("a", Toy::default(), Log::default());
    let b = world.add_host("b", Toy::echo(), Log::default());
    let ia = world.add_interface(a, [ip("2001:db8::1")]);
    let ib = world.add_interface(b, [ip("198.51.100.1")]);
    let small = LinkConfig { mtu: 1300, oversize: Oversize::Reported, ..LinkConfig::default() };
    world.add_link(ia, ib, small, small);
    world.add_nat64(ia, "64:ff9b::/96".parse().unwrap(), "203.0.113.1".parse().unwrap(), SECOND * 30);
    let out = Route { local: socket("[2001:db8::1]:9899"), remote: socket("[64:ff9b::c633:6401]:9899") };
    send(&mut world, a, out, 100);
    let seen = routes(&world, b)[0];
    assert_eq!((seen.local, seen.remote.ip()), (socket("198.51.100.1:9899"), ip("203.0.113.1")));
    assert_eq!(routes(&world, a), [out], "as if it spoke IPv6");
    send(&mut world, a, out, 1400);
    let told = |(_, event): &(_, Event)| matches!(event, Event::Unreachable { route, .. } if *route == out);
    assert!(world.app(a).events.iter().any(told), "an ICMP error quotes what was sent");
}
