//! A receiver that drops what it had acknowledged in a gap ack block (RFC 9260 §6.2.1 D iii).

use core::time::Duration;

use whimbrel_wire::Shutdown;

use whimbrel_testbed::peer::{Peer, quiet};

/// It closes besides, so that all that comes from it is SHUTDOWN, which has no gap ack blocks: but a chunk that follows
/// its Cumulative TSN Ack immediately cannot have been kept.
#[test]
fn and_shuts_down_is_sent_the_chunk_again() {
    let (mut bench, peer) = Peer::connected(quiet());
    for n in 1..=3 {
        bench.send(0, &[n; 1000]);
    }
    bench.take();
    let first = peer.node_tsn;
    bench.deliver(&peer.sack_with(first.prev(), 100_000, &[(3, 3)]));
    bench.deliver(&peer.packet(&[&Shutdown { cumulative_tsn_ack: first.next() }]));
    bench.take();
    bench.pass(Duration::from_secs(4));
    let again: Vec<_> = bench
        .take()
        .iter()
        .flat_map(|sent| sent.data().iter().map(|data| data.tsn).collect::<Vec<_>>())
        .collect();
    assert!(again.contains(&first.plus(2)), "{again:?}");
}
