//! A network that delivers nothing for a while, and is as it was afterwards.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, QueueLimit, Side};
use whimbrel_proto::Config;
use whimbrel_testbed::bulk::{Bulk, Place};

/// Mbit/s in the three seconds that begin half a second after data has come again. `begin` is when the network ceases to deliver.
fn recovered(seed: u64, begin: Duration, outage: Duration) -> f64 {
    let queue = QueueLimit::bytes(150_000);
    let place = Place { mbit: 20, rtt_ms: 20, queue, loss: 0.0, buffers: 4 << 20, seed };
    let mut bulk = Bulk::new(place, Config::mobile(), 60);
    for side in [Side::AtoB, Side::BtoA] {
        bulk.pair.change(0, side, Instant::ZERO + begin, Change::Down(InFlight::Lost));
        bulk.pair.change(0, side, Instant::ZERO + begin + outage, Change::Up);
    }
    bulk.pass(begin + outage);
    let silent = bulk.totals().delivered;
    while bulk.totals().delivered == silent {
        bulk.pass(Duration::from_millis(10));
    }
    bulk.pass(Duration::from_millis(500));
    let before = bulk.totals();
    let time = Duration::from_secs(3);
    bulk.pass(time);
    bulk.totals().mbit(before, time)
}

/// A SACK that was lost in the outage is no round trip as long as that: BBR would begin anew at a rate that hardly anything passes by.
#[test]
fn the_rate_is_back_at_once() {
    let mut slow = Vec::new();
    for seed in 1..=20 {
        for outage in [3, 4, 5, 6, 7, 8, 9, 12] {
            let begin = Duration::from_millis(1000 + 37 * seed);
            let mbit = recovered(seed, begin, Duration::from_secs(outage));
            if mbit < 14.0 {
                slow.push((seed, outage, mbit.round()));
            }
        }
    }
    assert!(slow.is_empty(), "(seed, seconds of outage, Mbit/s of 20): {slow:?}");
}
