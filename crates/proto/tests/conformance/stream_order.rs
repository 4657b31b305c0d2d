//! Messages of one stream whose TSNs come in another order than their SSNs (RFC 9260 §6.6).

use whimbrel_proto::CloseReason;
use whimbrel_wire::{Chunk, EmitChunk, Shutdown};

use whimbrel_testbed::peer::{Peer, assert_alive, quiet};

#[test]
fn they_are_held_and_delivered_in_the_order_of_their_ssns() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    for (ssn, payload) in [(2, b"c"), (1, b"b"), (3, b"d"), (0, b"a")] {
        assert!(bench.received().is_empty());
        let data = peer.data(0, ssn, payload);
        bench.deliver(&peer.packet(&[&data]));
    }
    assert_eq!(bench.received(), [b"a", b"b", b"c", b"d"]);
    let sent = bench.ask(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() }]));
    assert!(sent.iter().any(|sent| sent.chunks().contains(&Chunk::ShutdownAck)));
}

/// RFC 9260 §9.2: SHUTDOWN comes after all that the peer had to send. Where a message is missing it is forged.
#[test]
fn a_shutdown_does_not_cut_off_what_waits_for_its_turn() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let data = peer.data(0, 1, b"second");
    bench.deliver(&peer.packet(&[&data]));
    bench.ask(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() }]));
    let data = peer.data(0, 0, b"first");
    bench.deliver(&peer.packet(&[&data]));
    assert_eq!(bench.received(), [&b"first"[..], b"second"]);
    assert_alive(&mut bench, &peer);
}

/// What waits is counted in the window that the peer is told of, and a peer that fills it without what must come first is sent
/// away.
#[test]
fn what_waits_is_bounded_by_the_window() {
    let mut config = quiet();
    config.limits.receive_buffer = 20_000;
    let (mut bench, mut peer) = Peer::connected(config);
    let payload = [7; 1000];
    for ssn in 1..=20 {
        assert_eq!(bench.closed(), None, "SSN {ssn}");
        let data = peer.data(0, ssn, &payload);
        let sent = bench.ask(&peer.packet(&[&data as &dyn EmitChunk]));
        let windows = sent.iter().flat_map(|sent| {
            sent.chunks()
                .into_iter()
                .map(|chunk| match chunk {
                    Chunk::Sack(sack) => sack.a_rwnd,
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        });
        assert!(windows.into_iter().all(|window| window <= 20_000 - 1000 * u32::from(ssn)));
    }
    let data = peer.data(0, 21, &payload);
    bench.deliver(&peer.packet(&[&data]));
    assert!(matches!(bench.closed(), Some(CloseReason::ProtocolViolation(_))), "{:?}", bench.closed());
}
