//! Lost data that waits for the window of another path, and new data behind it (RFC 9260 §6.1 C).

use core::time::Duration;

use whimbrel_proto::{BurstLimit, InitialWindow, PathState, RetransmissionOrder};
use whimbrel_wire::Tsn;

use whimbrel_testbed::peer::{Bench, Peer, Sent, node_address, peer_address, quiet};

const WINDOW: u32 = 1_000_000;

/// Two paths, the first one primary; eight packets in flight there, and more to send.
fn in_flight(order: RetransmissionOrder) -> (Bench, Peer) {
    let mut config = quiet();
    config.retransmission.order = order;
    config.heartbeat.max_burst = 8;
    config.congestion.initial_window = InitialWindow::Packets(4);
    config.congestion.burst = BurstLimit::Packets(1000);
    let mut bench = Bench::with_addresses(config, 2);
    let mut peer = Peer { a_rwnd: WINDOW, ..Peer::new() };
    peer.connect_with(&mut bench, &[peer_address(1).ip(), peer_address(2).ip()]);
    for _ in 0..20 {
        for sent in bench.take() {
            peer.answer_heartbeats(&mut bench, &sent);
        }
        bench.pass(Duration::from_millis(100));
    }
    assert!(bench.paths().iter().all(|path| path.state == PathState::Active));
    for _ in 0..40 {
        bench.send(0, &[7; 1424]);
    }
    let mut acked = 0;
    while bench.paths()[0].flight_size < 8 * 1440 {
        acked += 2;
        sack(&mut bench, &peer, acked);
    }
    bench.take();
    (bench, peer)
}

fn sack(bench: &mut Bench, peer: &Peer, count: u32) {
    let point = Tsn(peer.node_tsn.0.wrapping_add(count).wrapping_sub(1));
    bench.deliver(&peer.sack(point, WINDOW));
}

/// TSNs of the DATA that left from our address `n`.
fn tsns(sent: &[Sent], n: u8) -> Vec<Tsn> {
    let from = sent.iter().filter(|sent| sent.route.local == node_address(n));
    from.flat_map(|sent| sent.data().iter().map(|data| data.tsn).collect::<Vec<_>>()).collect()
}

/// After a timeout the lost data goes by the second path, whose window takes half of it. The first one has room for a packet: of
/// new data, unless that has to wait for what was lost.
#[test]
fn new_data_passes_lost_data_only_where_it_may() {
    for (order, passes) in [(RetransmissionOrder::PerPath, true), (RetransmissionOrder::LostFirst, false)] {
        let (mut bench, peer) = in_flight(order);
        let highest = peer.node_tsn.0.wrapping_add(40);
        let flight = bench.paths()[0].flight_size / 1440;
        while bench.paths()[0].counters.timeouts == 0 {
            assert!(bench.pass_to_deadline());
        }
        let sent = bench.take();
        let (first, second) = (tsns(&sent, 1), tsns(&sent, 2));
        assert_eq!(second.len(), 4, "{order:?}: a window's worth of {flight} packets");
        assert_eq!(!first.is_empty(), passes, "{order:?}: {first:?} behind {second:?}");
        assert!(first.iter().all(|tsn| tsn.0 < highest && second.iter().all(|lost| lost.precedes(*tsn))));

        // Once all that was lost is on its way, new data goes out under either rule.
        let lost_up_to = second[0].0.wrapping_add(flight as u32);
        let mut acked = second[0].distance_from(peer.node_tsn);
        let mut new = first;
        while new.is_empty() {
            acked += 2;
            assert!(acked < 40, "{order:?}: no new data");
            sack(&mut bench, &peer, acked);
            let sent = bench.take();
            new = [tsns(&sent, 1), tsns(&sent, 2)].concat();
            new.retain(|tsn| tsn.0.wrapping_sub(lost_up_to) < 1 << 31);
        }
    }
}
