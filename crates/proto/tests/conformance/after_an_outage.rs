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

/// A good network is silent for ten seconds beside one of 40 kbit/s: how long 5 MB take.
fn beside_a_thin_network(seed: u64) -> Duration {
    let place = |mbit, rtt_ms, bytes| Place {
        mbit,
        rtt_ms,
        queue: QueueLimit::bytes(bytes),
        loss: 0.0,
        buffers: 4 << 20,
        seed,
    };
    let mut bulk = Bulk::over(&[place(20, 20, 150_000), place(1, 60, 20_000)], Config::mobile(), 60);
    let begin = Duration::from_millis(1000 + 37 * seed);
    for side in [Side::AtoB, Side::BtoA] {
        bulk.pair.change(1, side, Instant::ZERO, Change::Rate(Some(40_000)));
        bulk.pair.change(0, side, Instant::ZERO + begin, Change::Down(InFlight::Lost));
        bulk.pair.change(0, side, Instant::ZERO + begin + Duration::from_secs(10), Change::Up);
    }
    let mut took = Duration::ZERO;
    while bulk.totals().delivered < 5_000_000 {
        bulk.pass(Duration::from_millis(100));
        took += Duration::from_millis(100);
        assert!(took < Duration::from_secs(120), "seed {seed}");
    }
    took
}

#[test]
fn what_a_thin_network_has_does_not_hold_up_a_good_one() {
    let times: Vec<_> = (1..=8).map(beside_a_thin_network).collect();
    // A path that has failed is asked every five seconds. It was 17 to 35 s, 24 in the mean.
    assert!(times.iter().all(|took| took.as_secs() < 21), "{times:?}");
    assert!(times.iter().sum::<Duration>() / 8 < Duration::from_secs(17), "{times:?}");
}
