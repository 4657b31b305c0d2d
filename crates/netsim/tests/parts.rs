//! Hosts of several machines, and routers that a host's machine runs.

mod common;

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Route, Seed, Sink, Transmit};
use whimbrel_netsim::{Action, App, Composite, Context, DropReason, LinkConfig, Parts, Told, Voice, World};

use common::{Command, Event, Toy};

/// Two machines that echo: the first on port 1, the second on all others; each hears how much the other has received.
#[derive(Debug, Default)]
struct Twins {
    machines: [Toy; 2],
    heard: [Vec<u64>; 2],
    turns: [usize; 2],
}

impl Parts for Twins {
    type Fact = u64;
    type Command = (usize, Command);
    type Event = (usize, Event);

    fn count(&self) -> usize {
        2
    }

    fn owner(&self, route: Route) -> usize {
        usize::from(route.local.port() != 1)
    }

    fn addressee(&self, command: &(usize, Command)) -> usize {
        command.0
    }

    fn turn<'a, S: Sink<(usize, Event)>>(
        &mut self,
        part: usize,
        now: Instant,
        told: impl IntoIterator<Item = Told<'a, (usize, Command), u64>>,
        voice: &mut Voice<'_, S, u64>,
    ) -> Option<Instant> {
        self.turns[part] += 1;
        let mut inputs = Vec::new();
        for told in told {
            match told {
                Told::Fact(received) => self.heard[part].push(received),
                Told::Input(Input::Command((_, command))) => inputs.push(Input::Command(command)),
                Told::Input(Input::Datagrams { route, ecn, bytes, segment }) => {
                    inputs.push(Input::Datagrams { route, ecn, bytes, segment });
                }
                Told::Input(Input::Links(links)) => inputs.push(Input::Links(links)),
                Told::Input(_) => {}
            }
        }
        let mut hearing = voice.hearing(|event: Event, sink: &mut S, facts: &mut Vec<u64>| {
            if let Event::Received { number, .. } = event {
                facts.push(number);
            }
            sink.event((part, event));
        });
        self.machines[part].step(now, inputs, &mut hearing)
    }
}

#[derive(Default)]
struct Log(Vec<(usize, Event)>);

impl App<Composite<Twins>> for Log {
    fn on_event(&mut self, event: (usize, Event), _context: &mut Context<'_, (usize, Command)>) {
        self.0.push(event);
    }
}

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], port))
}

type Twin = World<Composite<Twins>, Log>;

fn twins() -> (Twin, [whimbrel_netsim::HostId; 2]) {
    let mut world = World::new(Seed::from_u64(1));
    let router = world.add_router();
    let hosts = [1, 2].map(|n| {
        let host = world.add_host("twins", Composite::new(Twins::default()), Log::default());
        let interface = world.add_interface(host, [address(n, 0).ip()]);
        world.add_link(interface, router, LinkConfig::default(), LinkConfig::default());
        host
    });
    (world, hosts)
}

fn send(world: &mut Twin, from: whimbrel_netsim::HostId, part: usize, ports: [u16; 2]) {
    let route = Route { local: address(1, ports[0]), remote: address(2, ports[1]) };
    world.act(Action::Command(from, (part, Command::Send { route, bytes: 100, count: 1 })));
}

#[test]
fn what_arrives_is_for_one_machine_and_the_other_hears_the_fact() {
    let (mut world, [a, b]) = twins();
    send(&mut world, a, 0, [1, 1]);
    send(&mut world, a, 1, [2, 2]);
    send(&mut world, a, 1, [2, 3]);
    world.run_for(Duration::from_secs(1));
    let parts = world.machine(b).parts();
    assert_eq!([0, 1].map(|part| parts.machines[part].received), [1, 2]);
    // Numbers of the datagrams that the other one got: each machine of the sender counts for itself.
    assert_eq!(parts.heard, [vec![0, 1], vec![0]]);
    let said: Vec<usize> = world.app(b).0.iter().map(|(part, _)| *part).collect();
    assert_eq!(said.iter().filter(|part| **part == 0).count(), 1);
}

#[test]
fn each_machine_has_its_own_deadline() {
    let (mut world, [a, _]) = twins();
    world.run_for(Duration::from_millis(1));
    let before = world.machine(a).parts().turns;
    for (part, seconds) in [(0, 2), (1, 1)] {
        world.act(Action::Command(a, (part, Command::Alarm(Duration::from_secs(seconds)))));
    }
    world.run_for(Duration::from_secs(3));
    let alarms: Vec<usize> = world.app(a).0.iter().map(|(part, _)| *part).collect();
    assert_eq!(alarms, [1, 0]);
    let turns = world.machine(a).parts().turns;
    // The command and the alarm: nobody has a turn for the other's.
    assert_eq!([turns[0] - before[0], turns[1] - before[1]], [2, 2]);
}

/// Passes on what comes, but for what is for `kept`.
#[derive(Debug, Default)]
struct Relay {
    kept: Option<IpAddr>,
    passed: usize,
}

#[derive(Debug)]
enum Either {
    Relay(Relay),
    Toy(Box<Toy>),
}

impl Machine for Either {
    type Command = Command;
    type Event = Event;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, Command>>,
        sink: &mut impl Sink<Event>,
    ) -> Option<Instant> {
        let relay = match self {
            Self::Toy(toy) => return toy.step(now, inputs, sink),
            Self::Relay(relay) => relay,
        };
        for input in inputs {
            let Input::Datagrams { route, bytes, segment, .. } = input else { continue };
            if Some(route.local.ip()) != relay.kept {
                relay.passed += 1;
                let transmit = Transmit {
                    route: route.reversed(),
                    ecn: Ecn::NotCapable,
                    fragmentation: Default::default(),
                    protocol: Default::default(),
                    segment,
                };
                sink.transmit(&transmit, bytes);
            }
        }
        None
    }
}

/// Two toys with a relay between them that has an address of its own.
fn relayed(kept: Option<IpAddr>) -> (World<Either, ()>, [whimbrel_netsim::HostId; 3]) {
    let mut world = World::new(Seed::from_u64(1));
    let relay = world.add_host("relay", Either::Relay(Relay { kept, passed: 0 }), ());
    let router = world.add_relay(relay);
    let link = LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() };
    let own = world.add_interface(relay, [address(9, 0).ip()]);
    world.add_link(own, router, LinkConfig::default(), LinkConfig::default());
    let [a, b] = [1, 2].map(|n| {
        let toy = if n == 2 { Toy::echo() } else { Toy::default() };
        let host = world.add_host("toy", Either::Toy(Box::new(toy)), ());
        let interface = world.add_interface(host, [address(n, 0).ip()]);
        world.add_link(interface, router, link, link);
        host
    });
    (world, [relay, a, b])
}

fn passed(world: &World<Either, ()>, relay: whimbrel_netsim::HostId) -> usize {
    match world.machine(relay) {
        Either::Relay(relay) => relay.passed,
        Either::Toy(_) => unreachable!("the relay is no toy"),
    }
}

fn received(world: &World<Either, ()>, toy: whimbrel_netsim::HostId) -> u64 {
    match world.machine(toy) {
        Either::Toy(toy) => toy.received,
        Either::Relay(_) => unreachable!("a toy is no relay"),
    }
}

fn ask(world: &mut World<Either, ()>, from: whimbrel_netsim::HostId, to: u8) {
    let route = Route { local: address(1, 7), remote: address(to, 7) };
    world.act(Action::Command(from, Command::Send { route, bytes: 100, count: 3 }));
    world.run_for(Duration::from_secs(1));
}

#[test]
fn packets_go_on_when_the_relays_machine_sends_them_on() {
    let (mut world, [relay, a, b]) = relayed(None);
    ask(&mut world, a, 2);
    assert_eq!((received(&world, b), received(&world, a), passed(&world, relay)), (3, 3, 6));
}

#[test]
fn they_go_no_further_when_it_does_not() {
    let (mut world, [relay, a, b]) = relayed(Some(address(2, 0).ip()));
    ask(&mut world, a, 2);
    assert_eq!((received(&world, b), passed(&world, relay)), (0, 0));
}

/// What is for the relay itself reaches it where it passes the router, once, and comes to no circle.
#[test]
fn what_is_for_the_relay_reaches_it() {
    let (mut world, [relay, a, _]) = relayed(None);
    ask(&mut world, a, 9);
    assert_eq!(passed(&world, relay), 3, "it was given all three");
    assert_eq!(world.stray_drops(DropReason::NoRoute), 3, "and sends to itself what it would pass on");
}

#[test]
fn a_relay_that_is_down_passes_nothing() {
    let (mut world, [relay, a, b]) = relayed(None);
    world.act(Action::Crash(relay));
    ask(&mut world, a, 2);
    assert_eq!(received(&world, b), 0);
    assert_eq!(world.stray_drops(DropReason::HostDown), 3);
}
