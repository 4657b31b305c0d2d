//! Somebody in the network: what he sees, changes and forges.
mod common;

use core::time::Duration;

use common::{Command, Event, Log, Toy, ip, route};
use whimbrel_machine::{Instant, Seed, Unreachable};
use whimbrel_netsim::{Action, DropReason, Forged, Forgery, HostId, Intruder, LinkConfig, Overheard, World};

const SECOND: Duration = Duration::from_secs(1);

/// For each datagram he sees: forges another one from nowhere, one to nobody, and an ICMP error; and bends the last byte.
struct Mallory;

impl Intruder for Mallory {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, forge: &mut Vec<Forgery>) {
        let forged = |local: &str, remote: &str| Forged::Datagram {
            route: route(local, remote),
            bytes: packet.bytes.clone(),
        };
        let quoted = packet.bytes.clone();
        let error = Forged::Unreachable { route: packet.route, reason: Unreachable::Protocol, quoted };
        forge.push(Forgery { at: now + SECOND, what: forged("10.9.9.9", "10.0.0.2") });
        forge.push(Forgery { at: now, what: forged("10.0.0.1", "10.7.7.7") });
        forge.push(Forgery { at: now + SECOND * 2, what: error });
        *packet.bytes.last_mut().unwrap() ^= 1;
    }
}

fn world(seed: u64) -> (World<Toy, Log>, HostId, HostId) {
    let mut world = World::new(Seed::from_u64(seed));
    let a = world.add_host("a", Toy::default(), Log::default());
    let b = world.add_host("b", Toy::default(), Log::default());
    let ia = world.add_interface(a, [ip("10.0.0.1")]);
    let ib = world.add_interface(b, [ip("10.0.0.2")]);
    world.add_link(ia, ib, LinkConfig::default(), LinkConfig::default());
    (world, a, b)
}

fn run(intruder: Option<Box<dyn Intruder>>) -> (World<Toy, Log>, HostId, HostId) {
    let (mut world, a, b) = world(1);
    world.set_intruder(intruder);
    let send = Command::Send { route: route("10.0.0.1", "10.0.0.2"), bytes: 97, count: 1 };
    world.act(Action::Command(a, send));
    world.run_for(SECOND * 5);
    (world, a, b)
}

#[test]
fn an_intruder_changes_and_forges() {
    let (world, a, b) = run(Some(Box::new(Mallory)));
    let received = |from: &str, intact| Event::Received {
        route: route("10.0.0.2", from),
        number: 0,
        sent: Instant::ZERO,
        bytes: 97,
        intact,
    };
    let at = |seconds: u32| Instant::ZERO + SECOND * seconds;
    let events = &world.app(b).events;
    assert_eq!(
        events.iter().map(|(_, event)| event.clone()).collect::<Vec<_>>(),
        [
            received("10.0.0.1", false),
            // What is forged is shown to nobody, or this would go on for ever.
            received("10.9.9.9", true),
        ]
    );
    assert!(events[1].0 >= at(1));
    let reason = Unreachable::Protocol;
    let error = Event::Unreachable { route: route("10.0.0.1", "10.0.0.2"), reason, quoted: 97 };
    assert_eq!(world.app(a).events.iter().map(|(_, event)| event.clone()).collect::<Vec<_>>(), [error]);
    assert_eq!((world.stray_drops(DropReason::NoRoute), world.packets_in_flight()), (1, 0));
}

#[test]
fn intruders_belong_to_the_run() {
    let hash = |mallory: bool| run(mallory.then(|| Box::new(Mallory) as Box<dyn Intruder>)).0.trace_hash();
    assert_eq!(hash(true), hash(true));
    assert_ne!(hash(true), hash(false));
}
