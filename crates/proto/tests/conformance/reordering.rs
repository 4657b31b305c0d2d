//! Packets that overtake each other (RFC 8985 §6).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, QueueLimit, Reorder, Side};
use whimbrel_proto::Config;

use whimbrel_testbed::bulk::{Bulk, Place, Totals};

const SECOND: Duration = Duration::from_secs(1);

/// A round trip of 50 ms, a queue that holds as much as the path.
const RTT_MS: u64 = 50;

fn bulk(mbit: u64) -> Bulk {
    let queue = QueueLimit::bytes(Place::capacity(mbit, RTT_MS));
    let place = Place { mbit, rtt_ms: RTT_MS, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
    Bulk::new(place, Config::mobile(), 5)
}

/// Lets two seconds pass: goodput in them, Mbit/s, and what has happened.
fn two_seconds(bulk: &mut Bulk) -> (f64, Totals) {
    let before = bulk.totals();
    bulk.pass(2 * SECOND);
    let after = bulk.totals();
    let since = Totals {
        delivered: after.delivered - before.delivered,
        halvings: after.halvings - before.halvings,
        timeouts: after.timeouts - before.timeouts,
        retransmitted: after.retransmitted - before.retransmitted,
        duplicates: after.duplicates - before.duplicates,
        dropped: after.dropped - before.dropped,
    };
    (after.mbit(before, 2 * SECOND), since)
}

/// One packet in a hundred comes later by as long as 3, 10 or 100 packets take, which is more than twice the reordering window at first.
/// In two seconds that is learnt.
#[test]
fn what_is_overtaken_is_not_sent_again() {
    for distance in [3, 10, 100] {
        let mut bulk = bulk(40);
        let detour = Reorder { probability: 0.01, extra: Duration::from_micros(300) * distance };
        bulk.pair.change(0, Side::AtoB, Instant::ZERO + 2 * SECOND, Change::Reorder(detour));
        bulk.pass(2 * SECOND);
        let (_, learning) = two_seconds(&mut bulk);
        let (mbit, since) = two_seconds(&mut bulk);
        let told = format!("{distance}: {learning:?}, {mbit:.1} Mbit/s, {since:?}");
        // The window comes back, so that the queue overflows now and then.
        assert!(learning.duplicates <= 50 && learning.timeouts == 0, "{told}");
        assert!(since.duplicates <= 8 && since.halvings <= since.dropped && since.timeouts == 0, "{told}");
        assert!(mbit > 30.0, "{told}");
    }
}

/// Each packet is late by up to 5 ms, there and back: by up to 40 packets.
#[test]
fn jitter_costs_nothing() {
    let mut bulk = bulk(100);
    let config = LinkConfig {
        rate_bps: Some(100_000_000),
        delay: Duration::from_millis(RTT_MS / 2),
        jitter: Duration::from_millis(5),
        keep_order: false,
        queue: QueueLimit::bytes(Place::capacity(100, RTT_MS)),
        ..LinkConfig::default()
    };
    bulk.pair.change(0, Side::Both, Instant::ZERO + 2 * SECOND, Change::Config(config));
    bulk.pass(2 * SECOND);
    let (mbit, since) = two_seconds(&mut bulk);
    assert_eq!(since.timeouts, 0, "{since:?}");
    // Some is sent again for nothing while the window is learnt. A packet has up to three chunks, and the last one may still be on its way.
    let needed = since.dropped * 3 + since.duplicates + 3;
    assert!(
        since.retransmitted <= needed && since.duplicates <= 160 && mbit > 75.0,
        "{mbit:.1} Mbit/s, {since:?}"
    );
}
