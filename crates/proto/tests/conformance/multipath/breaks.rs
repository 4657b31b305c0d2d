//! A path of several breaks without a word, comes back, or loses packets.

use whimbrel_machine::Instant;
use whimbrel_netsim::{LinkConfig, QueueLimit};
use whimbrel_proto::{Config, PathScheduler};
use whimbrel_testbed::bulk::Place;
use whimbrel_testbed::{Pair, User, at, link, millis, remotes};

use super::{Name, combining};
use core::time::Duration;

/// What is sent when the path breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Load {
    /// A record of 1,000 bytes every 5 ms.
    Records,
    /// As much as both paths carry.
    Bulk,
}

fn networks() -> [LinkConfig; 2] {
    let queue = QueueLimit::bytes(Place::capacity(20, 20));
    [LinkConfig { queue, jitter: Duration::from_micros(500), ..link(20, 10) }; 2]
}

/// One of two networks with a round trip of 20 ms breaks: the longest time without a message at the receiver.
fn broken(config: Config, load: Load, which: usize, seed: u64) -> Duration {
    let mut client = User::client(&remotes(2));
    match load {
        Load::Records => client.tick(millis(5), 1000, 1000),
        Load::Bulk => client = client.queueing(10_000, 6000),
    }
    let mut pair = Pair::new(seed, config, &networks(), client, User::server());
    pair.cut(which, Instant::from_nanos(3_000_000_000 + seed * 700_000));
    pair.run(5);
    pair.server().longest_gap(at(2900), pair.world.now()).0
}

#[test]
#[ignore = "prints a table"]
fn table() {
    for name in [Name::Reno, Name::Bbr] {
        for scheduler in
            [PathScheduler::EarliestCompletion, PathScheduler::RoundRobin, PathScheduler::FastestPathFirst]
        {
            for load in [Load::Records, Load::Bulk] {
                for which in [0, 1] {
                    let config = combining(name.mobile(), scheduler);
                    let mut gaps: Vec<Duration> =
                        (0..40).map(|seed| broken(config.clone(), load, which, seed)).collect();
                    gaps.sort_unstable();
                    println!(
                        "{name:?} {scheduler:?} {load:?} {which}: median {:?}, {:?} and {:?} at most",
                        gaps[20], gaps[37], gaps[39]
                    );
                }
            }
        }
    }
}

#[test]
#[ignore = "prints"]
fn look() {
    let which = 1;
    let config = || combining(Name::Bbr.mobile(), PathScheduler::EarliestCompletion);
    let seed = (0..40).max_by_key(|&seed| broken(config(), Load::Bulk, which, seed)).unwrap();
    let client = User::client(&remotes(2)).queueing(10_000, 6000);
    let mut pair = Pair::new(seed, config(), &networks(), client, User::server());
    let cut = Instant::from_nanos(3_000_000_000 + seed * 700_000);
    pair.cut(which, cut);
    for n in 0..60 {
        let now = cut + millis(n * 4);
        pair.world.run_until(now);
        let last = pair.server().received.last().map(|r| r.0);
        println!("{n:3} {:?} last {:?}", n * 4, last.map(|l| now.saturating_since(l)));
        for p in pair.paths(0) {
            if p.counters.data_sent > 0 {
                println!(
                    "    {} {:?} srtt {:?} cwnd {} flight {} sent {} again {} probes {} t/o {} fr {} err {} rate {:?}",
                    p.route.local,
                    p.state,
                    p.srtt,
                    p.cwnd,
                    p.flight_size,
                    p.counters.data_sent,
                    p.counters.data_retransmitted,
                    p.counters.tail_probes,
                    p.counters.timeouts,
                    p.counters.fast_retransmits,
                    p.error_count,
                    p.pacing_rate
                );
            }
        }
    }
}
