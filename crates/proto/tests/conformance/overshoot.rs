//! What slow start costs that overflows the queue at the bottleneck (RFC 9260 §7.2.3, §7.2.4): half a window, once.

use core::time::Duration;
use std::sync::Arc;

use whimbrel_netsim::QueueLimit;
use whimbrel_proto::Config;
use whimbrel_proto::path::congestion::{HyStartParameters, RenoParameters};

use whimbrel_testbed::bulk::{Bulk, Place, Totals};

const SECOND: Duration = Duration::from_secs(1);

/// Totals, and the goodput in Mbit/s from the third second to the sixth.
fn run(place: Place) -> (Totals, f64) {
    let mut config = Config::mobile();
    config.congestion.controller = Arc::new(HyStartParameters::around(RenoParameters::default()));
    let mut bulk = Bulk::new(place, config, 6);
    bulk.pass(3 * SECOND);
    let third = bulk.totals();
    bulk.pass(3 * SECOND);
    let last = bulk.totals();
    (last, last.mbit(third, 3 * SECOND))
}

/// More packets are lost than the gap ack blocks of one SACK can tell of. What they are silent about was in flight until T3-rtx
/// expired, and what they told of later was taken for the loss of what had been sent again: a timeout, three reductions, and 11 to
/// 40 Mbit/s for minutes.
#[test]
fn a_loss_larger_than_a_sack_costs_one_halving() {
    let (mbit, rtt_ms) = (100, 100);
    let queue = QueueLimit::bytes(Place::capacity(mbit, rtt_ms));
    let place = Place { mbit, rtt_ms, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
    let (totals, goodput) = run(place);
    let told = format!("{goodput:.0} Mbit/s with {queue:?}, {totals:?}");
    assert!(totals.dropped > 400, "more than a SACK can tell: {told}");
    assert!(goodput > 90.0, "{told}");
    assert_eq!((totals.halvings, totals.timeouts, totals.duplicates), (1, 0, 0), "{told}");
    // Two chunks fill a packet.
    assert!(totals.retransmitted <= 2 * totals.dropped + 20, "{told}");
}
