//! Bulk data whose network fails for a few seconds, beside a thin one, and nothing tells either time: what the receiver sees once the better one is back.

use core::time::Duration;

use whimbrel_handover::{Action, Pace, Seamless};
use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, LinkConfig, QueueLimit, Side};
use whimbrel_node::Node;
use whimbrel_proto::Config;

use whimbrel_testbed::{CLIENT, Pair, User, at, millis, remotes};

const CUT_FOR: u64 = 4_000;

fn network(kbit: u64, one_way_ms: u64) -> LinkConfig {
    LinkConfig {
        rate_bps: Some(kbit * 1000),
        delay: millis(one_way_ms),
        queue: QueueLimit::packets(100),
        ..LinkConfig::default()
    }
}

/// Seeds that failed before: in all but the last BBR filled the queue of the thin network with what the better one had lost; in the last, ProbeRTT made the better network look slow.
const HARDER: [u64; 6] = [288, 291, 303, 337, 396, 68];

/// What becomes of 12 MB over 8 Mbit/s (or over 1 Mbit/s for a while).
struct Outcome {
    /// How long after the better network is back it is used.
    back: Duration,
    /// The longest time without a message at the receiver from then on.
    gap: Duration,
    /// When the last one came.
    done: Instant,
    moves: usize,
}

fn outcome(seed: u64) -> Outcome {
    let client = User::client(&remotes(2)).queueing(190, 65_536);
    let finish = |host, node: Node| {
        if host == CLIENT { node.with_policy(|| Box::new(Seamless::policy(Pace::MOBILE))) } else { node }
    };
    let links = [network(8_000, 25), network(1_000, 60)];
    let mut pair = Pair::with_nodes(seed, Config::mobile(), &links, client, User::server(), finish);
    pair.uplinks[CLIENT].iter().for_each(|uplink| uplink.name(&mut pair.world, at(0)));
    let cut = 3_000 + seed * 137 % 2_111;
    pair.change(0, Side::Both, at(cut), Change::Down(InFlight::Lost));
    pair.change(0, Side::Both, at(cut + CUT_FOR), Change::Up);
    pair.run(60);
    let received = &pair.server().received;
    assert_eq!(received.len(), 190, "{seed}");
    let done = received[received.len() - 1].0;
    let decided = pair.world.machine(pair.client).decisions();
    let moves = decided.filter(|decided| matches!(decided.decision.action, Action::UsePath(_)));
    let moves: Vec<Instant> = moves.map(|decided| decided.at).collect();
    let returned = *moves.last().expect("a move");
    let (gap, _) = pair.server().longest_gap(returned + millis(100), done);
    Outcome { back: returned.saturating_since(at(cut + CUT_FOR)), gap, done, moves: moves.len() }
}

/// A path that has failed was asked every nine seconds after a while, and the thin network kept all of 12 MB for as long.
#[test]
fn the_better_network_is_used_soon_after_it_is_back() {
    for seed in (0..12).chain(HARDER) {
        let Outcome { back, done, moves, .. } = outcome(seed);
        assert!(back < millis(2_500), "{seed}: {back:?}");
        assert!(done < at(19_600), "{seed}: {done}");
        assert_eq!(moves, 2, "{seed}: there and back");
    }
}

/// What is in the queue of the thin one goes out again by the better one: everything behind it waited for it at the receiver.
#[test]
fn nothing_waits_for_what_the_thin_network_holds() {
    for seed in (0..12).chain(HARDER) {
        let Outcome { gap, .. } = outcome(seed);
        assert!(gap < millis(600), "{seed}: {gap:?}");
    }
}
