//! The peer says SHUTDOWN and moves to an address of its that nothing has confirmed yet (RFC 9260 §5.4, §9.2).

use core::time::Duration;

use whimbrel_proto::{Comparison, Config, PmtuSearch};
use whimbrel_wire::{Chunk, HeartbeatAck, Shutdown};

use crate::common::wire_peer::{Bench, Peer, Sent, peer_address};

fn answer(bench: &mut Bench, peer: &Peer, sent: &Sent) {
    for chunk in sent.chunks() {
        if let Chunk::Heartbeat(heartbeat) = chunk {
            bench.deliver_on(sent.route, &peer.packet(&[&HeartbeatAck { info: heartbeat.info }]));
        }
    }
}

/// HEARTBEATs end while the path that works may do (§8.3), and begin again once it does not. Whenever the one that was due falls.
#[test]
fn it_is_looked_for_there() {
    for tenth in [0, 7, 15, 23, 31, 44, 58] {
        let mut config = Config::mobile();
        config.pmtu.search = PmtuSearch::Off;
        config.heartbeat.comparison = Comparison::Never;
        let mut bench = Bench::new(config);
        let mut peer = Peer::new();
        peer.connect_with(&mut bench, &[peer_address(1).ip(), peer_address(2).ip()]);
        for _ in 0..3000 + tenth * 10 {
            bench.pass(Duration::from_millis(10));
            let sent = bench.take();
            let to_first = sent.iter().filter(|sent| sent.route.remote == peer_address(1));
            to_first.for_each(|sent| answer(&mut bench, &peer, sent));
        }
        bench.deliver(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() }]));
        bench.take();
        bench.pass(Duration::from_secs(150));
        let asks = |sent: &Sent| {
            let heartbeat = sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)));
            heartbeat && sent.route.remote == peer_address(2)
        };
        assert!(bench.take().iter().any(asks), "{tenth} tenths of a second");
    }
}
