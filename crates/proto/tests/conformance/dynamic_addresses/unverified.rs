//! Peers whose addresses nobody verifies, as before RFC 4960.

use whimbrel_proto::{PathState, PathVerification};
use whimbrel_wire::Chunk;

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// As in RFC 2960: what the peer adds and makes its primary address gets data at once, and no HEARTBEAT has asked before.
#[test]
fn where_verification_is_omitted_data_goes_to_an_added_address_at_once() {
    let mut config = mesh();
    config.verification = PathVerification::Omitted;
    let (mut bench, mut mobile) = Mobile::connected(config, 1);
    let there = peer_address(2).ip();
    let mut sent = bench.ask(&mobile.asconf(&[add(1, there), set_primary(2, there)]));
    assert_eq!(state(&bench, between(1, 2)), PathState::Active);
    bench.send(0, b"data");
    sent.extend(bench.take());
    let there = sent.iter().filter(|sent| sent.route == between(1, 2));
    let chunks: Vec<Chunk<'_>> = there.flat_map(Sent::chunks).collect();
    assert!(chunks.iter().any(|chunk| matches!(chunk, Chunk::Data(_))), "{chunks:?}");
    assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_))), "{chunks:?}");
}
