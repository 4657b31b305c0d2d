//! A client that changes networks while it sends or receives, its server at one fixed address: addresses come and go by ASCONF,
//! and `seamless` decides when (scenarios B and C of paper b08).

use core::net::{IpAddr, SocketAddr};

use whimbrel_handover::{Action, FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::{Instant, InterfaceFact, InterfaceKind};
use whimbrel_netsim::{LinkConfig, Loss, World};
use whimbrel_node::Node;
use whimbrel_proto::{Config, Event, Mobility, PathState};

use whimbrel_testbed::traffic::{ConstantRate, Traffic};
use whimbrel_testbed::{CLIENT, Pair, SERVER, Uplink, User, at, link, message, millis, uplink_address};

/// The client's address in network `n`.
fn mobile(n: u8) -> SocketAddr {
    uplink_address(CLIENT, usize::from(n) - 1)
}

fn seamless() -> Box<dyn Policy> {
    Box::new(Seamless::policy(Pace::MOBILE))
}

/// The client, the networks it may be in, and a server behind a router that leads to all of them.
struct Journey(Pair);

impl Journey {
    /// The client begins with its address in network 1 alone.
    fn new(seed: u64, networks: &[LinkConfig], client: User, server: User) -> Self {
        Self::by(seamless, seed, networks, client, server)
    }

    /// As [`Self::new`], moving by `policy`.
    fn by(
        policy: fn() -> Box<dyn Policy>,
        seed: u64,
        networks: &[LinkConfig],
        client: User,
        server: User,
    ) -> Self {
        let home = [link(1000, 1)];
        let (uplinks, users) = ([(1, networks), (1, &home[..])], [client, server]);
        let finish = |_, node: Node| node.with_policy(policy);
        let mut pair = Pair::around_router(seed, Config::mobile(), uplinks, users, finish);
        pair.uplinks[CLIENT].iter_mut().for_each(|uplink| uplink.kind = InterfaceKind::WirelessLan);
        pair.uplinks[CLIENT][0].name(&mut pair.world, at(0));
        Self(pair)
    }

    fn uplink(&mut self, n: u8) -> (Uplink, &mut World<Node, User>) {
        (self.0.uplinks[CLIENT][usize::from(n) - 1], &mut self.0.world)
    }

    fn about(&mut self, after: u64, n: u8, fact: InterfaceFact) {
        let (uplink, world) = self.uplink(n);
        uplink.about(world, at(after), fact);
    }

    /// Network `n` is there at `after` ms.
    fn enter(&mut self, after: u64, n: u8) {
        let (uplink, world) = self.uplink(n);
        uplink.enter(world, at(after));
    }

    /// Network `n` is lost at `after` ms, and the client knows.
    fn leave(&mut self, after: u64, n: u8) {
        let (uplink, world) = self.uplink(n);
        uplink.leave(world, at(after));
    }

    /// Nothing passes network `n` from `after` ms on.
    fn cut(&mut self, after: u64, n: u8) {
        self.0.cut(usize::from(n) - 1, at(after));
    }

    fn run(&mut self, until: u64) {
        self.0.world.run_until(at(until));
    }

    fn server(&self) -> &User {
        self.0.server()
    }

    fn client(&self) -> &User {
        self.0.client()
    }

    /// The client's addresses that lead somewhere, as the server sees them.
    fn addresses(&self) -> Vec<IpAddr> {
        let paths = self.0.paths(SERVER).into_iter().filter(|path| path.state == PathState::Active);
        let mut all: Vec<IpAddr> = paths.map(|path| path.route.remote.ip()).collect();
        all.sort();
        all
    }

    /// Where the server sends.
    fn server_sends_to(&self) -> IpAddr {
        self.0.in_use(SERVER).unwrap().remote.ip()
    }

    fn moves(&self) -> usize {
        let decided = self.0.world.machine(self.0.client).decisions();
        decided.filter(|decided| matches!(decided.decision.action, Action::UsePath(_))).count()
    }
}

fn source(interval: u64, bytes: usize, seconds: u64) -> Option<Box<dyn Traffic>> {
    Some(Box::new(ConstantRate::every(bytes, millis(interval), seconds * 1000 / interval)))
}

fn users(up: Option<Box<dyn Traffic>>, down: Option<Box<dyn Traffic>>) -> (User, User) {
    (User::client(&[uplink_address(SERVER, 0)]).sending(up), User::server().sending(down))
}

#[test]
fn addresses_can_come_and_go() {
    let (client, server) = users(source(10, 500, 3), None);
    let mut journey = Journey::new(1, &[link(20, 5)], client, server);
    journey.run(1000);
    let mobility = journey.client().events.iter().find_map(|(_, event)| match event {
        Event::Up { mobility, .. } => Some(*mobility),
        _ => None,
    });
    assert_eq!(mobility, Some(Mobility::Dynamic));
}

/// One that comes up while the handshake is on its way is in neither INIT nor INIT ACK, or only in the one that came too late. A
/// round trip takes 102 ms.
#[test]
fn an_address_that_comes_up_during_the_handshake_is_added() {
    for when in [10, 60, 110, 150, 190, 220] {
        let (client, server) = users(source(10, 500, 3), None);
        let mut journey = Journey::new(9, &[link(20, 50), link(20, 50)], client, server);
        journey.enter(when, 2);
        journey.run(3000);
        assert_eq!(journey.addresses(), [mobile(1).ip(), mobile(2).ip()], "after {when} ms");
    }
}

/// Scenario C with a warning, in both directions at once.
#[test]
fn make_before_break_has_no_gap_in_either_direction() {
    for (old, new) in [(5, 40), (40, 5), (20, 20)] {
        let (client, server) = users(source(5, 500, 8), source(5, 500, 8));
        let mut journey = Journey::new(2, &[link(20, old), link(20, new)], client, server);
        journey.enter(2000, 2);
        journey.run(3000);
        assert_eq!(journey.addresses(), [mobile(1).ip(), mobile(2).ip()], "added at once, and confirmed");
        journey.about(3000, 1, InterfaceFact::GoingDown);
        journey.leave(3600, 1);
        journey.run(20_000);
        for (name, user) in [("up", journey.server()), ("down", journey.client())] {
            let gap = user.longest_gap(at(1000), at(8000)).0;
            println!("{old} ms to {new} ms, {name}: longest gap {gap:?}");
            assert!(gap <= millis(5 + 2 * (new + 1)), "{gap:?}");
            assert_eq!(user.received.len(), 1600);
        }
        assert_eq!(journey.server_sends_to(), mobile(2).ip());
        assert_eq!(journey.addresses(), [mobile(2).ip()], "the old one is deleted");
        assert_eq!(journey.moves(), 1);
    }
}

/// b08 section 4.2.1.2: Add IP and Set Primary together, so that the server sends to the new address as soon as that has answered it: a
/// round trip of the old path earlier than if Set Primary waited for the answer.
#[test]
fn to_a_faster_network_the_peer_is_asked_together_with_the_addition() {
    let fastest = || -> Box<dyn Policy> { Box::new(FastestNetwork::policy(Pace::MOBILE)) };
    let (client, server) = users(source(5, 500, 8), source(5, 500, 8));
    let mut journey = Journey::by(fastest, 11, &[link(20, 30), link(20, 10)], client, server);
    journey.about(0, 1, InterfaceFact::Rate(2_000_000));
    journey.enter(2000, 2);
    // The request takes 31 ms, the heartbeat 11 ms, and its answer 31 ms: before the acknowledgement nothing else leaves from the new
    // address (RFC 5061 §5.3 F1).
    journey.run(2070);
    assert_eq!(journey.server_sends_to(), mobile(1).ip());
    journey.run(2076);
    assert_eq!(journey.moves(), 0, "it does not send from there itself yet");
    assert_eq!(journey.server_sends_to(), mobile(2).ip());
    journey.run(20_000);
    for user in [journey.server(), journey.client()] {
        assert_eq!(user.received.len(), 1600);
        println!("longest gap {:?}", user.longest_gap(at(1000), at(8000)).0);
        assert!(user.longest_gap(at(1000), at(8000)).0 <= millis(10), "no gap");
    }
    assert_eq!(journey.moves(), 1);
}

/// Nothing warns, and the client does not know either.
#[test]
fn a_silent_break_takes_at_most_300_ms_in_either_direction() {
    for delay in [1, 10, 25, 49] {
        let (client, server) = users(source(10, 500, 8), source(10, 500, 8));
        let mut journey = Journey::new(3, &[link(20, delay), link(20, delay)], client, server);
        journey.enter(2000, 2);
        journey.cut(4000, 1);
        journey.run(20_000);
        for (name, user) in [("up", journey.server()), ("down", journey.client())] {
            let next = user.received.iter().find(|(when, _)| *when > at(4000 + delay)).unwrap().0;
            let takes = next.saturating_since(at(4000));
            println!("round trip {} ms, {name}: {takes:?}", 2 * (delay + 1));
            assert!(takes <= millis(300), "{takes:?}");
            assert_eq!(user.received.len(), 800);
        }
    }
}

/// Scenario B: one address at a time.
#[test]
fn break_before_make_goes_on_from_the_new_address() {
    for gap in [50, 500, 5000] {
        let (client, server) = users(source(10, 500, 10), source(10, 500, 10));
        let mut journey = Journey::new(4, &[link(20, 10), link(20, 30)], client, server);
        journey.leave(3000, 1);
        journey.enter(3000 + gap, 2);
        journey.run(60_000);
        for (name, user) in [("up", journey.server()), ("down", journey.client())] {
            let next = user.received.iter().find(|(when, _)| *when > at(3000 + gap)).unwrap().0;
            let takes = next.saturating_since(at(3000 + gap));
            println!("{gap} ms without an address, {name}: {takes:?} after the new one");
            assert_eq!(user.received.len(), 1000, "nothing is lost");
        }
        assert_eq!(journey.addresses(), [mobile(2).ip()]);
        assert_eq!(journey.server_sends_to(), mobile(2).ip());
    }
}

/// The client's only networks are lost for some seconds, and the first comes back: what the server has to send goes on after a few
/// round trips of 22 ms, however far its timers have backed off.
#[test]
fn after_an_outage_data_goes_on_at_once() {
    for seconds in [1, 3, 5, 7, 10, 12, 14, 17, 20] {
        for both in [false, true] {
            let (client, server) = users(source(10, 500, 30).filter(|_| both), source(10, 500, 30));
            let mut journey = Journey::new(5, &[link(20, 10), link(20, 10)], client, server);
            journey.enter(1000, 2);
            let back = 3000 + seconds * 1000;
            journey.leave(3000, 1);
            journey.leave(3000, 2);
            journey.enter(back, 1);
            journey.run(60_000);
            let receivers =
                if both { vec![journey.client(), journey.server()] } else { vec![journey.client()] };
            for user in receivers {
                let next = user.received.iter().find(|(when, _)| *when > at(back)).unwrap().0;
                let takes = next.saturating_since(at(back));
                println!("{seconds} s without a network: {takes:?} after it came back");
                assert!(takes <= millis(150), "{takes:?}");
                assert_eq!(user.received.len(), 3000, "nothing is lost");
            }
        }
    }
}

/// The request to send to network 2 is under way when that is lost, too. It cannot be delivered from there, and nothing can be asked
/// before it is answered: it leaves from the new address.
#[test]
fn a_request_under_way_does_not_block_a_break_before_make() {
    let (client, server) = users(source(10, 500, 10), source(10, 500, 10));
    let networks = [link(20, 10), link(20, 10), link(20, 10)];
    let mut journey = Journey::new(8, &networks, client, server);
    journey.enter(1000, 2);
    journey.leave(3000, 1);
    journey.leave(3005, 2);
    journey.enter(4000, 3);
    journey.run(60_000);
    assert_eq!(journey.addresses(), [mobile(3).ip()]);
    assert_eq!(journey.server_sends_to(), mobile(3).ip());
    for user in [journey.server(), journey.client()] {
        assert_eq!(user.received.len(), 1000);
        let next = user.received.iter().find(|(when, _)| *when > at(4000)).unwrap().0;
        assert!(next < at(5000), "{next}");
    }
}

/// To and fro between two networks, each time with a new address announced and the old one deleted.
#[test]
fn twenty_moves_back_and_forth_under_load() {
    let (mut client, server) = users(None, source(10, 500, 120));
    client.outbox = (0..100_000).map(|n| message(0, n, 1000)).collect();
    let mut journey = Journey::new(5, &[link(10, 5), link(10, 20)], client, server);
    for round in 0..20 {
        let (old, new) = if round % 2 == 0 { (1, 2) } else { (2, 1) };
        let when = 2000 + 10_000 * round;
        journey.enter(when, new);
        journey.about(when + 1000, old, InterfaceFact::GoingDown);
        journey.leave(when + 1500, old);
    }
    journey.run(300_000);
    assert_eq!(journey.moves(), 20);
    assert_eq!(journey.server().received.len(), 100_000);
    assert_eq!(journey.client().received.len(), 12_000);
    println!("longest gap, down: {:?}", journey.client().longest_gap(at(1000), at(110_000)).0);
    let in_order = |(n, (_, got)): (usize, &(Instant, whimbrel_proto::Received))| {
        got.payload == message(0, n, 1000).payload
    };
    assert!(journey.server().received.iter().enumerate().all(in_order));
}

/// An address that comes and goes each second: few requests, few moves, and nothing lost.
#[test]
fn a_flapping_address_does_not_make_it_restless() {
    let (client, server) = users(source(20, 500, 120), source(20, 500, 120));
    let mut journey = Journey::new(6, &[link(20, 10), link(20, 10)], client, server);
    journey.enter(500, 2);
    for second in 2..100 {
        journey.leave(1000 * second, 1);
        journey.enter(1000 * second + 500, 1);
    }
    journey.run(200_000);
    assert!(journey.moves() <= 4, "{}", journey.moves());
    assert_eq!(journey.server().received.len(), 6000);
    assert_eq!(journey.client().received.len(), 6000);
}

/// Requests and answers get lost like everything else.
#[test]
fn moves_survive_loss() {
    for seed in 0..20 {
        let mut lossy = link(10, 20);
        lossy.loss = Loss::Bernoulli(0.1);
        let (client, server) = users(source(20, 500, 20), source(20, 500, 20));
        let mut journey = Journey::new(seed, &[lossy, lossy], client, server);
        journey.enter(2000, 2);
        journey.about(5000, 1, InterfaceFact::GoingDown);
        journey.leave(8000, 1);
        journey.enter(12_000, 1);
        journey.leave(16_000, 2);
        journey.run(120_000);
        assert_eq!(journey.server().received.len(), 1000, "seed {seed}");
        assert_eq!(journey.client().received.len(), 1000, "seed {seed}");
    }
}
