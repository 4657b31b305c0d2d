//! Directly on IP an endpoint shares its address with other SCTP stacks. It answers for the port of an association that
//! has ended as long as the peer may ask, and for no other port that is not its own (RFC 9260 §8.4, §9.2).

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{CloseReason, Command, ConnectToken};
use whimbrel_wire::{Chunk, CookieAck, Parameter, ShutdownAck, ShutdownComplete};

use crate::common::wire_peer::{self, Bench, NODE_PORT, PEER_PORT, Peer, quiet};

fn raw() -> Route {
    let mut route = wire_peer::route();
    route.local.set_port(0);
    route.remote.set_port(0);
    route
}

/// A node that was connected to the peer directly on IP and has closed; it listens on no port.
fn closed() -> (Bench, Peer) {
    let mut bench = Bench::with_locals(quiet(), vec![raw().local]);
    let mut peer = Peer::new();
    bench.command(Command::StopListening { port: NODE_PORT });
    bench.command(Command::Connect {
        token: ConnectToken(1),
        remote: vec![raw().remote],
        remote_port: PEER_PORT,
        local_port: Some(NODE_PORT),
    });
    peer.learn_init(&bench.take_only());
    bench.deliver_on(raw(), &peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    bench.deliver_on(raw(), &peer.packet(&[&CookieAck]));
    bench.shutdown();
    bench.deliver_on(raw(), &peer.packet(&[&ShutdownAck]));
    assert_eq!(bench.closed(), Some(CloseReason::Shutdown));
    bench.take();
    (bench, peer)
}

#[test]
fn a_lost_shutdown_complete_is_made_up_for() {
    let (mut bench, peer) = closed();
    bench.pass(Duration::from_secs(120));
    bench.deliver_on(raw(), &peer.packet(&[&ShutdownAck]));
    let sent = bench.take_only();
    assert_eq!(sent.tag(), peer.node_tag);
    assert_eq!(sent.only(), Chunk::ShutdownComplete(ShutdownComplete { tag_reflected: true }));
}

#[test]
fn what_may_be_for_another_stack_is_left_alone() {
    let (mut bench, peer) = closed();
    // Whoever uses the port next has another tag.
    let other = Peer { node_tag: peer.node_tag ^ 1, ..peer.clone() };
    bench.deliver_on(raw(), &other.packet(&[&ShutdownAck]));
    let elsewhere = Peer { port: PEER_PORT + 1, ..peer.clone() };
    bench.deliver_on(raw(), &elsewhere.packet(&[&ShutdownAck]));
    bench.pass(Duration::from_secs(301));
    bench.deliver_on(raw(), &peer.packet(&[&ShutdownAck]));
    assert!(bench.take().is_empty());
}
