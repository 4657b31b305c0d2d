//! Handover between two networks that both ends have had from the beginning, with policies deciding when: what the receiver
//! sees of it. Link 1 is a wireless LAN, link 2 cellular; the client moves.

use core::time::Duration;

use whimbrel_handover::{Action, Pace, Policy, Reason, Seamless};
use whimbrel_machine::{Cost, InterfaceFact, InterfaceKind, LinkFact, ReceivedPower};
use whimbrel_netsim::{Action as World, LinkConfig};
use whimbrel_node::Node;
use whimbrel_proto::{AddressChange, Command, Config, PathPairing, PathState, PathView};

use whimbrel_testbed::{CLIENT, Pair, SERVER, User, address, at, link, message, millis, remotes};

fn seamless() -> Box<dyn Policy> {
    Box::new(Seamless::policy(Pace::MOBILE))
}

/// Who sends a message of `bytes` at every `interval` ms for so many seconds, over both links.
fn client(interval: u64, bytes: usize, seconds: u64) -> User {
    let mut client = User::client(&remotes(2));
    client.tick(millis(interval), bytes, (seconds * 1000 / interval) as usize);
    client
}

/// Two links, the client moving by `seamless`, the server without a policy.
fn moving(links: &[LinkConfig], client: User) -> Pair {
    moving_with(7, Config::mobile(), links, client)
}

fn moving_with(seed: u64, config: Config, links: &[LinkConfig], client: User) -> Pair {
    let finish = |host, node: Node| if host == CLIENT { node.with_policy(seamless) } else { node };
    let mut pair = Pair::with_nodes(seed, config, links, client, User::server(), finish);
    pair.uplinks[CLIENT].iter().for_each(|uplink| uplink.name(&mut pair.world, at(0)));
    pair
}

/// The client learns something of its interface `n`, counted from 1, after so many ms.
fn about(pair: &mut Pair, after: u64, n: usize, fact: InterfaceFact) {
    pair.uplinks[CLIENT][n - 1].about(&mut pair.world, at(after), fact);
}

/// Where the client sends, and the reasons for its moves.
fn moves(pair: &Pair) -> Vec<Reason> {
    let decided = pair.world.machine(pair.client).decisions();
    let moved = decided.filter(|decided| matches!(decided.decision.action, Action::UsePath(_)));
    moved.map(|decided| decided.decision.reason).collect()
}

fn in_use(pair: &Pair) -> usize {
    let local = pair.in_use(CLIENT).unwrap().local;
    (1..=2).find(|&n| local == address(CLIENT, n - 1)).unwrap()
}

/// The target: no gap longer than one round trip of the new path over the spacing without a handover.
fn assert_no_gap(pair: &Pair, spacing: Duration, rtt: Duration, from: u64, to: u64) {
    let (gap, when) = pair.server().longest_gap(at(from), at(to));
    println!("longest gap {gap:?} at {when}, spacing {spacing:?}, round trip of the new path {rtt:?}");
    assert!(gap <= spacing + rtt, "{gap:?}");
}

#[test]
fn a_warning_means_no_gap() {
    for (delay_old, delay_new) in [(5, 40), (40, 5), (20, 20)] {
        let links = [link(20, delay_old), link(20, delay_new)];
        let mut pair = moving(&links, client(5, 1000, 8));
        about(&mut pair, 3000, 1, InterfaceFact::GoingDown);
        pair.cut(0, at(3500));
        pair.run(10);
        assert_no_gap(&pair, millis(5), millis(2 * delay_new), 1000, 8000);
        assert_eq!(moves(&pair), [Reason::GoingDown]);
        assert_eq!(pair.server().received.len(), 1600);
    }
}

/// Bulk data, so that a whole window is on its way when the move comes.
#[test]
fn a_warning_means_no_gap_under_load() {
    let client = User::client(&remotes(2)).queueing(8000, 1000);
    let mut pair = moving(&[link(10, 5), link(10, 40)], client);
    about(&mut pair, 2000, 1, InterfaceFact::GoingDown);
    pair.cut(0, at(2600));
    pair.run(20);
    let (spacing, _) = pair.server().longest_gap(at(1000), at(2000));
    assert!(spacing < millis(20), "data flows before the warning: {spacing:?}");
    assert_no_gap(&pair, spacing, millis(80), 2000, 5000);
    assert_eq!(pair.server().received.len(), 8000);
}

/// The signal falls by half a decibel each 100 ms; at −90 dBm the link is dead.
#[test]
fn a_falling_signal_means_no_gap() {
    let mut pair = moving(&[link(20, 5), link(20, 40)], client(5, 1000, 10));
    for step in 0..60 {
        let power = ReceivedPower::from_dbm(-60.0 - 0.5 * step as f64);
        about(&mut pair, 1000 + 100 * step, 1, InterfaceFact::Signal(power));
    }
    pair.cut(0, at(7000));
    pair.run(12);
    assert_no_gap(&pair, millis(5), millis(80), 1000, 10_000);
    assert_eq!(moves(&pair), [Reason::SignalFading]);
}

/// Nothing warns: from the break to the first message at the receiver that was not there before.
#[test]
fn a_silent_break_takes_at_most_300_ms() {
    println!("round trip    from the break to the next message");
    for delay in [1, 5, 10, 20, 30, 40, 50] {
        for offset in [0, 3, 7] {
            let mut pair = moving(&[link(20, delay), link(20, delay)], client(10, 1000, 6));
            let broken = 3000 + offset;
            pair.cut(0, at(broken));
            pair.run(8);
            let next = pair.server().received.iter().find(|(when, _)| *when > at(broken)).unwrap().0;
            let takes = next.saturating_since(at(broken));
            println!("{:7} ms    {takes:?}", 2 * delay);
            assert!(takes <= millis(300), "{takes:?} with a round trip of {} ms", 2 * delay);
            assert_eq!(moves(&pair), [Reason::PathFailed]);
            assert_eq!(pair.server().received.len(), 600, "nothing is lost");
        }
    }
}

/// A link that is dead for 300 ms of each second.
#[test]
fn no_ping_pong_on_a_flapping_link() {
    let mut pair = moving(&[link(20, 10), link(20, 30)], client(10, 500, 120));
    for second in 2..100 {
        pair.cut(0, at(1000 * second));
        pair.heal(0, at(1000 * second + 300));
    }
    pair.run(130);
    // Back after 2, 4, 8, 16, 32 and 64 s, and away again each time; and to stay when it is over.
    let moves = moves(&pair);
    assert!((2..=15).contains(&moves.len()), "{moves:?}");
    assert_eq!(pair.server().received.len(), 12_000);
    assert_eq!(in_use(&pair), if moves.len().is_multiple_of(2) { 1 } else { 2 });
}

#[test]
fn a_metered_link_is_used_only_while_nothing_else_works() {
    let mut pair = moving(&[link(2, 30), link(100, 5)], client(10, 500, 40));
    about(&mut pair, 0, 1, InterfaceFact::Rank(1));
    about(&mut pair, 0, 2, InterfaceFact::Rank(0));
    about(&mut pair, 0, 2, InterfaceFact::Cost(Cost::Metered));
    pair.run(10);
    assert_eq!((in_use(&pair), moves(&pair)), (1, vec![]), "however fast and preferred");
    pair.cut(0, at(10_000));
    pair.run(15);
    assert_eq!(in_use(&pair), 2);
    pair.heal(0, at(15_000));
    pair.run(30);
    assert_eq!(in_use(&pair), 1, "left when that is certain");
    pair.run(45);
    assert_eq!(pair.server().received.len(), 4000);
    assert_eq!(moves(&pair), [Reason::PathFailed, Reason::Preferred]);
}

/// What two networks carry together does not go by one that is paid for by volume, until nothing else works. Without that word both carry.
#[test]
fn a_metered_link_takes_no_part_in_aggregation() {
    for metered in [false, true] {
        let client = User::client(&remotes(2)).queueing(4000, 1000);
        let mut pair =
            moving_with(7, Config::mobile().combining_paths(), &[link(2, 20), link(2, 20)], client);
        if metered {
            about(&mut pair, 0, 2, InterfaceFact::Cost(Cost::Metered));
        }
        let by_second = |pair: &Pair| {
            let second = |path: &PathView| path.route.local == address(CLIENT, 1);
            pair.paths(CLIENT)
                .iter()
                .filter(|path| second(path))
                .map(|path| path.counters.data_sent)
                .sum::<u64>()
        };
        pair.run(5);
        let carried = by_second(&pair);
        assert!(if metered { carried < 10 } else { carried > 300 }, "{metered}: {carried}");
        pair.cut(0, at(5_000));
        pair.run(40);
        assert!(by_second(&pair) > 1000, "{metered}");
        assert_eq!(pair.server().received.len(), 4000, "{metered}");
    }
}

/// The server moves: between its INIT ACK and the COOKIE ECHO its second address comes up. A round trip takes 100 ms.
#[test]
fn an_address_that_comes_up_after_init_ack_is_added() {
    for when in [20, 60, 100, 140, 160] {
        let mut client = User::client(&remotes(1));
        client.tick(millis(10), 500, 200);
        let finish = |host, node: Node| if host == CLIENT { node } else { node.with_policy(seamless) };
        let links = [link(20, 50), link(20, 50)];
        let mut pair = Pair::with_nodes(7, Config::mobile(), &links, client, User::server(), finish);
        let second = pair.uplinks[SERVER][1];
        second.tell(&mut pair.world, at(0), LinkFact::AddressDown(second.address));
        second.tell(&mut pair.world, at(when), LinkFact::AddressUp(second.address));
        pair.run(4);
        let paths = pair.paths(CLIENT);
        let active =
            |path: &&PathView| path.state == PathState::Active && path.route.remote == address(SERVER, 1);
        assert_eq!(paths.iter().filter(active).count(), 1, "after {when} ms");
    }
}

/// The other way round: what the peer was told of and is gone by the time that the association is up is deleted.
#[test]
fn an_address_that_goes_away_during_the_handshake_is_deleted() {
    for when in [20, 60, 110, 150, 190] {
        let mut pair = moving(&[link(20, 50), link(20, 50)], client(10, 500, 12));
        let second = pair.uplinks[CLIENT][1];
        second.tell(&mut pair.world, at(when), LinkFact::AddressDown(second.address));
        pair.run(12);
        let paths = pair.paths(SERVER);
        assert!(paths.iter().all(|path| path.route.remote == address(CLIENT, 0)), "after {when} ms");
    }
}

/// What the peer asks for is advice (RFC 5061 §5.4): followed, and taken back when the user would rather not pay for it. However
/// often it asks, the governor's measure holds. With one path for each address of the peer, ours goes with the peer's.
#[test]
fn a_peer_that_asks_for_the_metered_link_does_not_get_it_for_long() {
    let config = Config { pairing: PathPairing::PerDestination, ..Config::mobile() };
    let mut pair = moving_with(7, config, &[link(20, 10), link(20, 10)], client(10, 500, 20));
    about(&mut pair, 0, 2, InterfaceFact::Cost(Cost::Metered));
    pair.run(3);
    let association = pair.server().association().unwrap();
    let ask = || {
        let changes = vec![AddressChange::SetPrimary(address(SERVER, 1).ip())];
        World::Command(pair.server, Command::ChangeAddresses { association, changes })
    };
    let asked: Vec<_> = (0..50).map(|n| (at(3000 + 100 * n), ask())).collect();
    for (when, command) in asked {
        pair.world.schedule(when, command);
    }
    pair.world.run_until(at(3100));
    assert_eq!(in_use(&pair), 2, "it does get it");
    // Each time ours is taken it rests for twice as long, and up to half as long again: 3 s and 6 s at most.
    pair.run(13);
    assert_eq!(in_use(&pair), 1);
    let moves = moves(&pair);
    assert!((1..=4).contains(&moves.len()), "{moves:?}");
    assert!(moves.iter().all(|&reason| reason == Reason::Preferred));
    pair.run(30);
    assert_eq!(pair.server().received.len(), 2000);
}

#[test]
fn twenty_moves_under_load_lose_nothing() {
    let mut client = User::client(&remotes(2)).queueing(60_000, 1000);
    client.shutdown_when_done = true;
    let mut pair = moving(&[link(10, 5), link(10, 20)], client);
    for round in 0..20 {
        let when = 2000 + 2000 * round;
        let (leave, other) = if round % 2 == 0 { (1, 2) } else { (2, 1) };
        about(&mut pair, when, leave, InterfaceFact::GoingDown);
        let kind = if other == 1 { InterfaceKind::WirelessLan } else { InterfaceKind::Cellular };
        about(&mut pair, when - 200, other, InterfaceFact::Up(kind));
    }
    pair.run(45);
    assert_eq!(moves(&pair).len(), 20);
    let (gap, when) = pair.server().longest_gap(at(1000), at(42_000));
    println!("longest gap in 20 moves {gap:?} at {when}");
    assert!(gap <= millis(60), "{gap:?}");
    pair.run(90);
    assert_eq!(pair.server().received.len(), 60_000);
    let in_order = pair
        .server()
        .received
        .iter()
        .enumerate()
        .all(|(n, (_, got))| got.payload == message(0, n, 1000).payload);
    assert!(in_order);
}

/// Wi-Fi has grown slow, for good, and the client has left it for LTE: it does not go back.
#[test]
fn who_has_left_a_slow_network_stays_where_it_is_quick() {
    let all: Vec<(u128, usize)> = (1..25)
        .map(|seed| {
            let mut client = User::client(&remotes(2));
            client.tick(millis(4), 1000, 5000);
            let links = [link(20, 10), link(20, 30)];
            let mut pair = moving_with(seed, Config::mobile(), &links, client);
            pair.delay(0, at(6_000 + seed * 37), 200);
            pair.run(40);
            (pair.behind(millis(4)).as_millis(), pair.client().moves().len())
        })
        .collect();
    assert!(all.iter().all(|(behind, told)| *behind < 300 && *told == 1), "{all:?}");
}

/// Who sends nearly all that the network carries has hardly anything waiting, until BBR measures the round trip without a queue (ProbeRTT), and halves its window for that: 30 s have
/// five such times in them.
#[test]
fn a_network_whose_round_trip_is_measured_is_kept() {
    for seed in 0..3 {
        for microseconds in [6_800, 7_000, 7_200] {
            let mut client = User::client(&remotes(2));
            client.tick(Duration::from_micros(microseconds), 16_384, 4_000);
            let mut pair = moving_with(seed, Config::mobile(), &[link(20, 10), link(10, 30)], client);
            pair.run(30);
            assert_eq!(moves(&pair), [], "{seed} {microseconds}");
        }
    }
}
