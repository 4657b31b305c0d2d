//! What the controllers make of a bottleneck (RFC 9260 §7.2, RFC 9438, draft-ietf-ccwg-bbr).

use core::time::Duration;
use std::sync::Arc;

use whimbrel_netsim::QueueLimit;
use whimbrel_proto::Config;
use whimbrel_proto::path::congestion::{
    BbrParameters, ControllerFactory, CubicParameters, HyStartParameters, PacedParameters, RenoParameters,
};

use whimbrel_testbed::bulk::{Bulk, Place, Totals};

const SECOND: Duration = Duration::from_secs(1);
/// How often the round-trip time is looked at.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Reno,
    Cubic,
    PacedCubic,
    Bbr,
}

impl Name {
    fn factory(self) -> Arc<dyn ControllerFactory> {
        let cubic = CubicParameters::default();
        match self {
            Self::Reno => Arc::new(HyStartParameters::around(RenoParameters::default())),
            Self::Cubic => Arc::new(HyStartParameters::around(cubic)),
            Self::PacedCubic => Arc::new(PacedParameters::around(HyStartParameters::around(cubic))),
            Self::Bbr => Arc::new(BbrParameters::default()),
        }
    }
}

/// What ten seconds were like, after a second to warm up.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Mbit/s.
    goodput: f64,
    /// Milliseconds, mean.
    round_trip: f64,
    /// From the beginning.
    totals: Totals,
}

fn run(name: Name, place: Place) -> Outcome {
    let mut config = Config::mobile();
    config.congestion.controller = name.factory();
    let mut bulk = Bulk::new(place, config, 12);
    bulk.pass(SECOND);
    let before = bulk.totals();
    let (mut sum, mut looks) = (0.0, 0.0);
    for _ in 0..500 {
        bulk.pass(LOOK);
        sum += bulk.path().srtt.map_or(0.0, |srtt| srtt.as_secs_f64() * 1000.0);
        looks += 1.0;
    }
    let after = bulk.totals();
    let outcome =
        Outcome { goodput: after.mbit(before, 10 * SECOND), round_trip: sum / looks, totals: after };
    println!("{name:?} {place:?} {outcome:.1?} {:?}", bulk.path().phase);
    outcome
}

/// 100 Mbit/s, a round trip of 50 ms, a queue that holds as much as the path.
fn long(loss: f64) -> Place {
    let (mbit, rtt_ms) = (100, 50);
    let queue = QueueLimit::bytes(Place::capacity(mbit, rtt_ms));
    Place { mbit, rtt_ms, queue, loss, buffers: 4 << 20, seed: 1 }
}

/// A window that comes back along a cubic function is back before the next loss more often than one that grows by a packet a round trip.
#[test]
#[ignore = "takes some minutes; CONTRIBUTING.md has the command"]
fn without_losses_all_fill_the_path_and_rare_ones_cost_bbr_little() {
    for name in [Name::Reno, Name::Cubic, Name::PacedCubic, Name::Bbr] {
        let outcome = run(name, long(0.0));
        assert!(outcome.goodput > 85.0 && outcome.totals.timeouts == 0, "{name:?}: {outcome:.1?}");
    }
    let [reno, cubic, bbr] = [Name::Reno, Name::Cubic, Name::Bbr].map(|name| run(name, long(0.001)).goodput);
    assert!(cubic > reno * 1.2 && bbr > 80.0, "{reno:.1}, {cubic:.1} and {bbr:.1} Mbit/s");
}

/// It has 92 Mbit/s without losses, and 79 where each of them lowers its bound.
#[test]
fn one_loss_in_a_hundred_costs_bbr_little() {
    let [reno, cubic, bbr] = [Name::Reno, Name::Cubic, Name::Bbr].map(|name| run(name, long(0.01)).goodput);
    assert!(bbr > 87.0 && bbr > 5.0 * cubic.max(reno), "{reno:.1}, {cubic:.1} and {bbr:.1} Mbit/s");
}

/// A queue that holds four times as much as the path: what looks for losses fills it, and BBR does not.
#[test]
fn a_deep_queue_stays_empty_with_bbr() {
    let (mbit, rtt_ms) = (10, 20);
    let queue = QueueLimit::bytes(4 * Place::capacity(mbit, rtt_ms));
    let place = Place { mbit, rtt_ms, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
    let [reno, cubic, bbr] = [Name::Reno, Name::Cubic, Name::Bbr].map(|name| run(name, place));
    let told = format!("{reno:.1?}, {cubic:.1?} and {bbr:.1?}");
    assert!(bbr.round_trip < 1.5 * 20.0 && bbr.goodput > 8.5, "{told}");
    assert!(cubic.round_trip > 2.0 * 20.0 && cubic.goodput > 9.0, "{told}");
}

/// The same seed is the same run, whatever the controller chooses at random.
#[test]
fn a_run_is_its_seed() {
    let queue = QueueLimit::bytes(Place::capacity(10, 20));
    let place = Place { mbit: 10, rtt_ms: 20, queue, loss: 0.01, buffers: 1 << 20, seed: 1 };
    let [first, second] = [0; 2].map(|_| format!("{:?}", run(Name::Bbr, place)));
    assert_eq!(first, second);
    assert_ne!(first, format!("{:?}", run(Name::Bbr, Place { seed: 2, ..place })));
}
