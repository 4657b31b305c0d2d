//! What was sent last is lost, and nothing tells: a network breaks in silence, or a single packet is lost (RFC 8985 §7).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, Change, LinkConfig, Loss, Side};
use whimbrel_proto::{Command, Config, Event, PathId, TailLoss};

use whimbrel_testbed::{CLIENT, Pair, User, link, remotes};

fn probing() -> Config {
    let mut config = Config::mobile();
    config.retransmission.tail = TailLoss::Probe;
    config
}

/// Records of 1,000 bytes every 10 ms, from the client.
fn stream(config: Config, links: &[LinkConfig], seed: u64, records: usize) -> Pair {
    let mut client = User::client(&remotes(links.len()));
    client.tick(Duration::from_millis(10), 1000, records);
    Pair::new(seed, config, links, client, User::server())
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

/// Two networks with a round trip of 20 ms, one of which breaks without a word while records flow, at some moment between two.
#[test]
fn a_silent_break_costs_a_few_round_trips() {
    let gaps: Vec<Duration> = (0..40)
        .map(|phase| {
            let mut pair = stream(probing(), &[link(20, 10), link(20, 10)], phase, 600);
            let cut = Instant::from_nanos(3_000_000_000 + phase * 700_000);
            pair.cut(0, cut);
            pair.run(10);
            assert_eq!(pair.server().received.len(), 600, "{phase}");
            pair.server().longest_gap(Instant::from_nanos(2_500_000_000), pair.world.now()).0
        })
        .collect();
    let (median, longest) = (median(gaps.clone()), *gaps.iter().max().unwrap());
    assert!(median <= Duration::from_millis(100), "{gaps:?}");
    assert!(longest <= Duration::from_millis(150), "{gaps:?}");
}

/// Five minutes of records over networks with a jitter of 100 ms and 1 % loss, and half a minute of silence: how often the user of either end was
/// told that new data goes another way.
fn rough(seed: u64) -> usize {
    let rough =
        LinkConfig { jitter: Duration::from_millis(100), loss: Loss::Bernoulli(0.01), ..link(20, 10) };
    let mut pair = stream(probing(), &[rough, rough], seed, 30_000);
    pair.run(330);
    assert_eq!(pair.server().received.len(), 30_000, "{seed}");
    pair.client().moves().len() + pair.server().moves().len()
}

/// Packets are lost and late, but the path is as good as ever: it stays in use.
#[test]
fn loss_and_jitter_move_nobody() {
    // In the first two the repetitions of a heartbeat that was lost came late, in the next two the heartbeat of a stream that had stopped was the
    // repetition of one whose time was nearly over.
    for seed in [410, 5_536, 156, 4_880, 10_000, 10_001] {
        assert_eq!(rough(seed), 0, "{seed}");
    }
}

/// The same for 10,000 minutes, from the seed `SEED` on, or for `WORLDS` of five and a half minutes: `cargo test --release -p whimbrel-proto --test conformance -- --ignored loss_and_jitter`.
#[test]
#[ignore = "takes some minutes; CONTRIBUTING.md has the command"]
fn loss_and_jitter_move_nobody_in_a_week() {
    let first = std::env::var("SEED").map_or(0, |seed| seed.parse().expect("SEED is a number"));
    let worlds = std::env::var("WORLDS").map_or(1_820, |worlds| worlds.parse().expect("WORLDS is a number"));
    let seeds: Vec<u64> = (first..first + worlds).collect();
    let halves: Vec<_> = seeds.chunks(seeds.len() / 2).collect();
    let moved: Vec<(u64, usize)> = std::thread::scope(|scope| {
        let of = |seeds: &[u64]| {
            seeds.iter().map(|&seed| (seed, rough(seed))).filter(|(_, moves)| *moves > 0).collect()
        };
        let halves: Vec<_> =
            halves.iter().map(|seeds| scope.spawn(move || -> Vec<_> { of(seeds) })).collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert_eq!(moved, []);
}

/// A single record, lost on a path that is well: the copy of the probe that goes there arrives, whatever the other network is like.
#[test]
fn a_lost_packet_is_repaired_by_the_probe() {
    for second in [link(20, 10), link(20, 300)] {
        let mut pair = stream(probing(), &[link(20, 10), second], 1, 400);
        // One packet in 100 is lost, and records come too seldom for the next ones to tell.
        pair.world.app_mut(pair.client).tick(Duration::from_millis(150), 100, 400);
        let lossy = LinkConfig { loss: Loss::Periodic(40), ..link(20, 10) };
        let at = Instant::from_nanos(2_000_000_000);
        pair.change(0, Side::AtoB, at, Change::Config(lossy));
        pair.run(70);
        assert_eq!(pair.server().received.len(), 400);
        assert!(
            pair.server().longest_gap(at, pair.world.now()).0 < Duration::from_millis(150 + 120),
            "{:?}",
            pair.server().longest_gap(at, pair.world.now()).0
        );
        assert_eq!(pair.client().moves().len(), 0);
    }
}

/// The path that new data took last, as far as the client was told, by the end of a run.
fn in_use(pair: &Pair) -> Option<PathId> {
    pair.client().events.iter().rev().find_map(|(_, event)| match event {
        Event::PathInUse { path, .. } => Some(*path),
        _ => None,
    })
}

/// A network keeps back everything for a third of a second: its first answer comes late, the next one says that it is as good as ever.
#[test]
fn a_network_that_stood_still_is_used_again_soon() {
    let mut pair = stream(probing(), &[link(20, 10), link(20, 15)], 3, 600);
    let stall = Instant::from_nanos(2_000_000_000);
    pair.delay(0, stall, 310);
    pair.delay(0, stall + Duration::from_millis(1), 10);
    pair.run(8);
    assert_eq!(pair.server().received.len(), 600);
    let moves = pair.client().moves();
    assert!(moves.iter().all(|at| *at < stall + Duration::from_millis(800)), "{moves:?}");
    assert!(in_use(&pair).is_none_or(|path| path == PathId::from_number(0)), "{moves:?}");
}

/// A network that has become slow is second to a quicker one, until the user says otherwise.
#[test]
fn who_chooses_a_slow_path_gets_it() {
    for chosen in [false, true] {
        let mut pair = stream(probing(), &[link(20, 10), link(20, 15)], 3, 900);
        pair.delay(0, Instant::from_nanos(2_000_000_000), 200);
        pair.run(5);
        assert_ne!(in_use(&pair), Some(PathId::from_number(0)));
        let association = pair.client().association().unwrap();
        if chosen {
            let command = Command::SetPrimary { association, path: PathId::from_number(0) };
            pair.world.act(Action::Command(pair.client, command));
        }
        pair.run(20);
        assert_eq!(pair.server().received.len(), 900);
        assert_eq!(in_use(&pair) == Some(PathId::from_number(0)), chosen);
    }
}

/// No DATA is lost, but one SACK in fifty, and records come about a round trip apart: the probe is answered before T3-rtx, which would be due some
/// milliseconds earlier, calls everything lost.
#[test]
fn a_sack_that_is_lost_costs_no_timeout() {
    for one_way in [40, 48, 55] {
        let back = LinkConfig { loss: Loss::Bernoulli(0.02), ..link(20, one_way) };
        let mut client = User::client(&remotes(2));
        client.tick(Duration::from_millis(100), 400, 2_000);
        let configs = [probing(), probing()];
        let mut pair =
            Pair::with_configs(1, configs, &[[link(20, one_way), back]; 2], client, User::server());
        pair.run(205);
        assert_eq!(pair.server().received.len(), 2_000);
        let timeouts: u64 = pair.paths(CLIENT).iter().map(|path| path.counters.timeouts).sum();
        assert!(timeouts <= 5, "{one_way} ms: {timeouts}");
    }
}
