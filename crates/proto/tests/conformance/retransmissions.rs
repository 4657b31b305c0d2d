//! What goes with a retransmission (RFC 9260 §6.1, §7.2.4).

use core::time::Duration;

use whimbrel_proto::TailLoss;
use whimbrel_wire::{Chunk, EmitChunk, GapAckBlock, SackBuilder};

use whimbrel_testbed::peer::{Peer, quiet};

/// RFC 9260 §6.1, §6.10: a SACK goes before the DATA in one packet. One that reports so many duplicates that the chunk would not
/// fit beside it is cut, or the fast retransmission, which the window does not limit, would have lost its turn.
#[test]
fn a_sack_leaves_room_for_what_is_retransmitted() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let before = peer.data(0, 0, b"again and again");
    bench.deliver(&peer.packet(&[&before]));
    for n in 0..4 {
        bench.send(0, &[n; 1376]);
    }
    bench.take();
    for last in [2, 3] {
        bench.deliver(&peer.sack_with(peer.node_tsn.prev(), 100_000, &[(2, last)]));
    }
    let third = SackBuilder {
        cumulative_tsn_ack: peer.node_tsn.prev(),
        a_rwnd: 100_000,
        gap_ack_blocks: &[GapAckBlock { start: 2, end: 4 }],
        duplicate_tsns: &[],
    };
    let mut chunks: Vec<&dyn EmitChunk> = vec![&third];
    chunks.extend((0..16).map(|_| &before as &dyn EmitChunk));
    let sent = bench.ask(&peer.packet(&chunks));
    let [Chunk::Sack(sack), Chunk::Data(data)] = sent[0].chunks()[..] else { panic!("{sent:?}") };
    assert_eq!((sent.len(), data.tsn), (1, peer.node_tsn));
    assert!((1..16).contains(&sack.duplicate_tsns().len()));
}

/// Some networks lose certain bytes each time. No two transmissions of a chunk in a row are the same then; where the RFC's timers are all there is they
/// may be.
#[test]
fn what_is_sent_again_is_not_the_same_bytes() {
    for (tail, differs) in [(TailLoss::Probe, true), (TailLoss::Timeout, false)] {
        let mut config = quiet();
        config.retransmission.tail = tail;
        // Nothing but T3-rtx.
        config.heartbeat.interval = None;
        let (mut bench, _) = Peer::connected(config);
        bench.send(0, b"never acknowledged");
        bench.pass(Duration::from_secs(60));
        let bits: Vec<bool> =
            bench.take().iter().flat_map(|sent| sent.data()).map(|data| data.immediate).collect();
        assert!(bits.len() > 4, "{bits:?}");
        assert_eq!(bits.windows(2).all(|pair| pair[0] != pair[1]), differs, "{tail:?} {bits:?}");
    }
}
