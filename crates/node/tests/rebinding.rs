//! A NAT gives the peer another UDP port in the middle of an association (RFC 6951 §5.3, §5.4).

#[path = "common/wire_peer.rs"]
mod wire_peer;

use whimbrel_machine::Route;
use whimbrel_wire::{Chunk, Heartbeat};
use wire_peer::{Bench, Peer, quiet, route};

fn rebound() -> Route {
    let mut route = route();
    route.remote.set_port(40_000);
    route
}

fn up() -> (Bench, Peer) {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    peer.connect(&mut bench);
    bench.take();
    (bench, peer)
}

/// RFC 6951 §5.4: the new port is learnt from a packet that the Verification Tag lets in; packets leave for it from then
/// on (§5.3), and whatever must be found by the peer's address is found there.
#[test]
fn the_new_port_is_learnt() {
    let (mut bench, mut peer) = up();
    bench.deliver_on(rebound(), &peer.packet(&[&Heartbeat { info: b"still me" }]));
    assert_eq!(bench.take_only().route, rebound());
    bench.send(0, b"to the new port");
    let sent = bench.take_only();
    assert_eq!(sent.route, rebound());
    assert_eq!(sent.data().len(), 1);
    let chunk = peer.data(0, 0, b"from the new port");
    bench.deliver_on(rebound(), &peer.packet(&[&chunk]));
    assert_eq!(bench.received(), [b"from the new port"]);
    assert_eq!(bench.paths().len(), 1);
    // An INIT from there belongs to this association: a restart, not a second peer (RFC 9260 §5.2.2).
    bench.take();
    let again = Peer { tag: 0x7777, ..Peer::new() };
    bench.deliver_on(rebound(), &again.init(&[]));
    let mut restarted = again;
    restarted.learn_init_ack(&bench.take_only());
    bench.deliver_on(rebound(), &restarted.cookie_echo());
    assert_eq!(bench.restarts(), 1);
}

/// RFC 6951 §5.4: a packet with a wrong tag moves nothing.
#[test]
fn a_stranger_moves_nothing() {
    let (mut bench, peer) = up();
    let stranger = Peer { node_tag: peer.node_tag ^ 1, ..peer.clone() };
    bench.deliver_on(rebound(), &stranger.packet(&[&Heartbeat { info: b"me, honestly" }]));
    bench.take();
    bench.send(0, b"to the old port");
    let sent = bench.take_only();
    assert_eq!(sent.route, route());
    assert!(matches!(sent.chunks()[0], Chunk::Data(_)));
}
