//! Concurrent multipath transfer: new data on all paths that work.

mod breaks;
mod goodput;
mod long;
mod sacks;
mod thin;

use core::time::Duration;
use std::sync::Arc;

use whimbrel_netsim::QueueLimit;
use whimbrel_proto::path::congestion::{BbrParameters, ControllerFactory, HyStartParameters, RenoParameters};
use whimbrel_proto::{Config, LossDetection, PathScheduler};
use whimbrel_testbed::bulk::{Bulk, Place, Totals};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Reno,
    Bbr,
}

impl Name {
    fn factory(self) -> Arc<dyn ControllerFactory> {
        match self {
            Self::Reno => Arc::new(HyStartParameters::around(RenoParameters::default())),
            Self::Bbr => Arc::new(BbrParameters::default()),
        }
    }

    fn mobile(self) -> Config {
        let mut config = Config::mobile();
        config.congestion.controller = self.factory();
        config
    }
}

const SCHEDULERS: [PathScheduler; 5] = [
    PathScheduler::RoundRobin,
    PathScheduler::LowestRoundTrip,
    PathScheduler::FastestPathFirst,
    PathScheduler::EarliestCompletion,
    PathScheduler::Redundant,
];

/// A path with a queue of one bandwidth-delay product.
fn place(mbit: u64, rtt_ms: u64, buffers: usize) -> Place {
    let queue = QueueLimit::bytes(Place::capacity(mbit, rtt_ms));
    Place { mbit, rtt_ms, queue, loss: 0.0, buffers, seed: 1 }
}

/// Several paths at once, by one scheduler or another.
fn combining(config: Config, scheduler: PathScheduler) -> Config {
    let mut config = config.combining_paths();
    config.multipath.scheduler = scheduler;
    config
}

/// What has become of a transfer.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Mbit/s after the warm-up.
    goodput: f64,
    totals: Totals,
    /// What was sent on each path, chunks.
    share: [u64; 2],
    /// Smoothed round trips.
    round_trips: [Duration; 2],
}

/// Sends for so many seconds, and looks at all but the first two.
fn run(places: &[Place], config: Config, seconds: u64) -> Outcome {
    const WARM_UP: u64 = 2;
    let mut bulk = Bulk::over(places, config, seconds);
    bulk.pass(Duration::from_secs(WARM_UP));
    let before = bulk.totals();
    bulk.pass(Duration::from_secs(seconds - WARM_UP));
    let totals = bulk.totals();
    let paths = bulk.pair.paths(whimbrel_testbed::CLIENT);
    let mut of = [0, 1].map(|n| {
        let route = |path: &&whimbrel_proto::PathView| {
            path.route.local == whimbrel_testbed::address(whimbrel_testbed::CLIENT, n)
                && path.route.remote == whimbrel_testbed::address(whimbrel_testbed::SERVER, n)
        };
        paths.iter().find(route).map(|path| (path.counters.data_sent, path.srtt.unwrap_or_default()))
    });
    let of = [0, 1].map(|n| of[n].take().unwrap_or_default());
    Outcome {
        goodput: totals.mbit(before, Duration::from_secs(seconds - WARM_UP)),
        totals,
        share: of.map(|of| of.0),
        round_trips: of.map(|of| of.1),
    }
}
