//! Slow start into a network whose bottleneck has a queue of its own (RFC 9260 §7.2.1, RFC 9406).

use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::Instant;
use whimbrel_netsim::{DropReason, LinkConfig, QueueLimit, Side};
use whimbrel_proto::Config;
use whimbrel_proto::path::congestion::{ControllerFactory, HyStartParameters, RenoParameters};

use whimbrel_testbed::{Pair, User, link, message, remotes};

const BYTES: usize = 4_000_000;

/// Packets lost at a bottleneck of so many Mbit/s and a queue of so many packets, and when the message had arrived.
fn losses(controller: &Arc<dyn ControllerFactory>, rate: u32, queue: u32) -> (u64, Instant) {
    let bottleneck = LinkConfig { queue: QueueLimit::packets(queue), ..link(rate.into(), 40) };
    let mut config = Config::mobile();
    config.congestion.controller = Arc::clone(controller);
    let mut client = User::client(&remotes(1));
    client.outbox = [message(0, 0, BYTES)].into();
    client.shutdown_when_done = true;
    let mut pair = Pair::new(3, config, &[bottleneck], client, User::server());
    pair.run(60);
    let total: usize = pair.server().received.iter().map(|(_, received)| received.payload.len()).sum();
    assert_eq!(total, BYTES);
    let (at, _) = pair.server().received.last().unwrap();
    assert!(pair.client().closed());
    (pair.world.stats(pair.link(0), Side::AtoB).dropped_for(DropReason::Queue), *at)
}

/// Queues of one, two and four times what the network holds. A rise of the round-trip time is seen a round after the queue
/// began to grow, when the window has doubled once more: that is why something is lost all the same.
#[test]
fn loses_less_where_it_heeds_the_round_trip_time() {
    let reno = RenoParameters { slow_start_limit: 8 };
    let hystart: Arc<dyn ControllerFactory> = Arc::new(HyStartParameters::around(reno));
    let reno: Arc<dyn ControllerFactory> = Arc::new(reno);
    let (mut standard, mut heeding) = ((0, Duration::ZERO), (0, Duration::ZERO));
    for rate in [10, 15, 20, 25, 30, 35] {
        for queue in [1, 2, 4].map(|times| times * rate * 8) {
            let add = |total: &mut (u64, Duration), controller: &Arc<dyn ControllerFactory>| {
                let (lost, arrived) = losses(controller, rate, queue);
                *total = (total.0 + lost, total.1 + arrived.saturating_since(Instant::ZERO));
            };
            add(&mut standard, &reno);
            add(&mut heeding, &hystart);
        }
    }
    let told = format!("lost, time: {standard:?} and {heeding:?}");
    assert!(heeding.0 * 2 < standard.0, "{told}");
    // What is lost costs one reduction either way, and time only to be sent again.
    assert!(heeding.1 < standard.1, "{told}");
}
