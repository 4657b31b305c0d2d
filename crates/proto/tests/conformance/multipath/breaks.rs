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
