//! A standby path comes back after a long outage of which no link event tells.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Config, Event, PathState};

use whimbrel_testbed::{CLIENT, Pair, User, address, link, remotes};

const SECOND: u64 = 1_000_000_000;

/// Seconds from the return of the second network until each path over it alone is active again, for the client.
fn noticed(seed: u64, outage: u64) -> Vec<f64> {
    let user = User::client(&remotes(2));
    let mut pair = Pair::new(seed, Config::mobile(), &[link(10, 20), link(10, 20)], user, User::server());
    let back = Instant::from_nanos((5 + outage) * SECOND);
    pair.cut(1, Instant::from_nanos(5 * SECOND));
    pair.heal(1, back);
    pair.run(5 + outage + 60);
    let local = address(CLIENT, 1).ip();
    let active = |event: &Event| matches!(event, Event::Path { route, state: PathState::Active, .. } if route.local.ip() == local);
    let events = pair.client().events.iter().filter(|(at, event)| *at > back && active(event));
    events.map(|(at, _)| at.saturating_since(back).as_secs_f64()).collect()
}

/// The backing off of a dead standby path is limited: its return is noticed within seconds (RFC 9260 §8.3 would allow
/// RTO.Max and more).
#[test]
fn is_noticed_within_seconds() {
    for seed in 0..8 {
        let times = noticed(seed, 120);
        assert!(!times.is_empty(), "seed {seed}");
        assert!(times.iter().all(|&seconds| seconds < 12.0), "seed {seed}: {times:?}");
    }
}

/// The backing off does not go away altogether: a dead path costs a packet every few seconds at most.
#[test]
fn does_not_cost_much() {
    let user = User::client(&remotes(2));
    let mut pair = Pair::new(1, Config::mobile(), &[link(10, 20), link(10, 20)], user, User::server());
    pair.cut(1, Instant::from_nanos(5 * SECOND));
    pair.run(30);
    let association = pair.client().association().unwrap();
    let sent = |pair: &Pair| -> u64 {
        let paths = pair.world.machine(pair.client).paths(association);
        paths
            .iter()
            .filter(|path| path.route.local == address(CLIENT, 1))
            .map(|path| path.counters.packets_sent)
            .sum()
    };
    let before = sent(&pair);
    pair.world.run_until(Instant::ZERO + Duration::from_secs(130));
    let packets = sent(&pair) - before;
    assert!((10..40).contains(&packets), "{packets} packets in 100 seconds");
}
