//! A handshake that begins anew because its cookie was stale (RFC 9260 §5.2.6).

use whimbrel_proto::Config;
use whimbrel_wire::{Cause, Chunk, CookieAck, ErrorBuilder, Parameter};

use whimbrel_testbed::peer::Peer;

/// The network doubles the error, and a COOKIE ECHO thought stale is answered after all: what belongs to the first
/// handshake must not be taken for an answer in the second. Otherwise the two sides end up in different associations.
#[test]
fn does_not_mix_with_the_handshake_before() {
    let (mut bench, mut peer) = Peer::called(Config::rfc());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"first")]));
    bench.take();
    let stale = peer.packet(&[&ErrorBuilder { causes: &[Cause::StaleCookie { microseconds: 5 }] }]);
    let late_ack = peer.packet(&[&CookieAck]);
    let first_tag = peer.node_tag;
    let init = bench.ask(&stale);
    peer.learn_init(&init[0]);
    assert_ne!(peer.node_tag, first_tag);
    assert!(matches!(
        bench.ask(&peer.init_ack(&[Parameter::StateCookie(b"second")]))[0].only(),
        Chunk::CookieEcho(_)
    ));
    assert!(bench.ask(&stale).is_empty());
    bench.deliver(&late_ack);
    assert_eq!(bench.ups(), 0);
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
}
