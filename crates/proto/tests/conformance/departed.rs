//! Directly on IP an endpoint shares its address with other SCTP stacks. It answers for the port of an association that
//! has ended as long as the peer may ask, and for no other port that is not its own (RFC 9260 §8.4, §9.2).

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{CloseReason, Command, Config, ConnectToken, RawPorts};
use whimbrel_wire::{Chunk, CookieAck, Parameter, ShutdownAck, ShutdownComplete, chunk_type};

use whimbrel_testbed::peer::{self, Bench, NODE_PORT, PEER_PORT, Peer, quiet};

fn raw() -> Route {
    let mut route = peer::route();
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

/// RFC 9260 §8.4: where no other stack is, every port is answered for.
#[test]
fn on_a_host_without_other_stacks_every_port_is_answered_for() {
    for (raw_ports, answered) in [(RawPorts::Own, false), (RawPorts::All, true)] {
        let mut bench = Bench::with_locals(Config { raw_ports, ..quiet() }, vec![raw().local]);
        bench.command(Command::StopListening { port: NODE_PORT });
        let peer = Peer { node_tag: 77, ..Peer::new() };
        let answers =
            [peer.init(&[]), peer.packet(&[&ShutdownAck]), peer.sack(peer.node_tsn, 1000)].map(|packet| {
                bench.deliver_on(raw(), &packet);
                let sent = bench.take();
                assert_eq!(sent.len(), usize::from(answered));
                sent.first().map(|sent| (sent.tag(), sent.chunks()[0].chunk_type()))
            });
        let expected =
            [(peer.tag, chunk_type::ABORT), (77, chunk_type::SHUTDOWN_COMPLETE), (77, chunk_type::ABORT)];
        assert_eq!(answers, expected.map(|answer| answered.then_some(answer)));
    }
}
