//! A path that loses much is told to be lossy, however rarely something goes by it.

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{Change, LinkConfig, Loss, QueueLimit, Side};
use whimbrel_proto::{Comparison, Config, PathPairing, PmtuSearch};

use whimbrel_testbed::bulk::{Bulk, Place, Totals};
use whimbrel_testbed::peer::{Bench, Peer, Sent, peer_address};
use whimbrel_testbed::{CLIENT, Pair, User, address, at, link, millis, remotes};

/// 1,200 and 600 records in two minutes, while a second network is idle.
#[test]
fn a_path_that_loses_a_third_of_rare_records_is_lossy() {
    for every in [100, 200] {
        let mut client = User::client(&remotes(2));
        client.tick(Duration::from_millis(every), 1000, 1_000_000);
        let mut server = User::server();
        server.discard = true;
        let mut pair = Pair::new(3, Config::mobile(), &[link(20, 10), link(20, 10)], client, server);
        let lossy = LinkConfig { loss: Loss::Bernoulli(0.3), ..link(20, 10) };
        pair.change(0, Side::Both, Instant::from_nanos(5_000_000_000), Change::Config(lossy));
        let found = (50..1250_u64).any(|tenth| {
            pair.world.run_until(Instant::from_nanos(100_000_000 * tenth));
            let paths = pair.paths(CLIENT);
            paths.iter().any(|path| path.primary && path.quality.lossy)
        });
        assert!(found, "a record every {every} ms");
    }
}

/// All DATA is lost there and heartbeats pass.
#[test]
fn a_path_that_lets_heartbeats_pass_alone_is_lossy() {
    let mut config = Config::mobile();
    config.pmtu.search = PmtuSearch::Off;
    config.heartbeat.comparison = Comparison::Never;
    config.pairing = PathPairing::PerDestination;
    let mut bench = Bench::with_addresses(config, 2);
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[peer_address(1).ip(), peer_address(2).ip()]);
    for _ in 0..100 {
        let sent = bench.take();
        bench.pass(Duration::from_millis(20));
        sent.iter().for_each(|sent| answer(&mut bench, &peer, sent));
    }
    let primary = bench.paths().iter().find(|path| path.primary).unwrap().route;
    let mut next = peer.node_tsn;
    let lossy = (0..600).any(|n| {
        bench.take().iter().for_each(|sent| answer(&mut bench, &peer, sent));
        bench.send(0, &[1; 300]);
        let arrives = |sent: &Sent| {
            sent.data().iter().any(|data| data.tsn == next) && (n < 20 || sent.route != primary)
        };
        let route = loop {
            let sent = bench.take();
            sent.iter().for_each(|sent| answer(&mut bench, &peer, sent));
            if let Some(sent) = sent.iter().find(|sent| arrives(sent)) {
                break sent.route;
            }
            bench.pass(Duration::from_millis(1));
        };
        bench.pass(Duration::from_millis(20));
        bench.deliver_on(route, &peer.sack(next, 100_000));
        next = next.next();
        let lossy = bench.paths().iter().any(|path| path.primary && path.quality.lossy);
        bench.pass(Duration::from_millis(80));
        lossy
    });
    assert!(lossy, "580 records in a row were lost there");
}

/// Answers the heartbeats in a packet.
fn answer(bench: &mut Bench, peer: &Peer, sent: &Sent) {
    peer.answer_heartbeats(bench, sent);
}

/// A network falls silent under a message now and then: a probe brings each of them by the other network, and nothing else is in flight that would
/// tell. The network is left, and what follows is not late.
#[test]
fn a_network_that_falls_silent_under_rare_messages_is_left() {
    for every in [60, 100, 250, 1_000] {
        let mut client = User::client(&remotes(2));
        client.tick(Duration::from_millis(every), 100, 1_000_000);
        let mut pair = Pair::new(5, Config::mobile(), &[link(20, 10), link(20, 15)], client, User::server());
        pair.run(5);
        let used = pair.in_use(CLIENT).unwrap();
        pair.cut(usize::from(used != route_of(&pair, 0)), at(5_001));
        pair.world.run_for(Duration::from_millis(1_000 + 2 * every));
        assert_ne!(pair.in_use(CLIENT).unwrap().local, used.local, "a message every {every} ms");
    }
}

/// The only network has a round trip of 1 ms and loses a fifth in either direction: no SACK tells of a packet in three. RTO.Min is two hundred round
/// trips there, so nothing may wait for T3-rtx, and no time that was spent with waiting may count as a round trip. Packets are no smaller for it.
#[test]
fn a_short_path_that_loses_a_fifth_both_ways_waits_for_no_timeouts() {
    for seed in 1..5 {
        let queue = QueueLimit::bytes(Place::capacity(20, 50));
        let place = Place { mbit: 20, rtt_ms: 1, queue, loss: 0.0, buffers: 4 << 20, seed };
        let mut bulk = Bulk::new(place, Config::mobile(), 12);
        bulk.pass(millis(2_000));
        bulk.pair.change(0, Side::Both, at(2_000), Change::Loss(Loss::Bernoulli(0.2)));
        let before = bulk.totals();
        bulk.pass(millis(10_000));
        let (after, path) = (bulk.totals(), bulk.path());
        let Totals { timeouts, .. } = after;
        let carried = after.mbit(before, millis(10_000));
        assert!(carried > 5.0 && timeouts < 4, "seed {seed}: {carried} Mbit/s, {timeouts} timeouts");
        assert!(path.srtt < Some(millis(20)) && path.packet_size >= 1200, "seed {seed}: {path:?}");
    }
}

fn route_of(pair: &Pair, network: usize) -> Route {
    let local = address(CLIENT, network);
    pair.paths(CLIENT).iter().find(|path| path.route.local == local).unwrap().route
}
