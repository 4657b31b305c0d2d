//! Tail-loss probes that would come too early are not sent (decision 39).

use core::time::Duration;
use std::sync::Arc;

use whimbrel_netsim::QueueLimit;
use whimbrel_path::congestion::RenoParameters;
use whimbrel_proto::Config;

use whimbrel_testbed::bulk::{Bulk, Place};
use whimbrel_testbed::{CLIENT, Pair, User, link, millis, remotes};

/// Probes of all paths of the client.
fn probes(pair: &Pair) -> u64 {
    pair.paths(CLIENT).iter().map(|path| path.counters.tail_probes).sum()
}

/// A peer keeps SACKs back for longer than we do ourselves, and a second packet comes after 30 or 40 ms, which is more than 20 ms. Its first SACK
/// for two packets tells: there is one probe before that.
#[test]
fn how_long_the_peer_keeps_sacks_back_is_learnt() {
    for every in [30, 40] {
        let mut patient = Config::mobile();
        patient.sack.delay = millis(200);
        let mut client = User::client(&remotes(1));
        client.tick(millis(every), 1000, 200);
        let configs = [Config::mobile(), patient];
        let mut pair = Pair::with_configs(1, configs, &[[link(100, 25); 2]], client, User::server());
        pair.run(15);
        assert_eq!(pair.server().received.len(), 200);
        assert!(probes(&pair) <= 1, "{every} ms: {}", probes(&pair));
    }
}

/// A transfer fills a queue, so that a round trip grows from 10 ms to 170 ms. What probes have sent again does not keep that from being measured:
/// PTO is 10 ms longer than the latest round trip, so that there is no more than one probe for each 10 ms.
#[test]
fn a_round_trip_that_grows_is_learnt() {
    let (mbit, rtt_ms, queue) = (20, 10, 400_000);
    let queue = QueueLimit::bytes(queue);
    let mut config = Config::mobile();
    // Who keeps the queue short has no such round trip.
    config.congestion.controller = Arc::new(RenoParameters::default());
    let place = Place { mbit, rtt_ms, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
    let mut bulk = Bulk::new(place, config, 10);
    bulk.pass(Duration::from_secs(5));
    assert!(bulk.path().srtt > Some(millis(100)), "the queue is full");
    assert!(probes(&bulk.pair) <= (170 - 10) / 10, "{}", probes(&bulk.pair));
}
