//! A packet full of SACKs (RFC 5062 §8).

use whimbrel_wire::{EmitChunk, SackBuilder};

use whimbrel_testbed::peer::{Bench, Peer, quiet};

/// Each SACK may cost a walk over everything outstanding, so a packet full of them is not worked through.
#[test]
fn a_thousand_sacks_in_a_packet_are_not_all_processed() {
    let (mut bench, peer) = Peer::connected(quiet());
    for _ in 0..100 {
        bench.send(0, &[1; 20]);
    }
    let acknowledged = |bench: &Bench| 2000 - bench.node.stats(bench.association()).unwrap().send_queued;
    let sack = |n: u32| SackBuilder {
        cumulative_tsn_ack: peer.node_tsn.plus(n).prev(),
        a_rwnd: 100_000,
        gap_ack_blocks: &[],
        duplicate_tsns: &[],
    };
    let sacks: Vec<SackBuilder<'_>> = (1..=10).map(sack).collect();
    let chunks: Vec<&dyn EmitChunk> = sacks.iter().map(|sack| sack as &dyn EmitChunk).collect();
    bench.deliver(&peer.packet(&chunks));
    assert_eq!(acknowledged(&bench), 4 * 20);
    bench.deliver(&peer.packet(&chunks[9..]));
    assert_eq!(acknowledged(&bench), 10 * 20);
}
