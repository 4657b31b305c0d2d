//! A NAT gives the peer another UDP port in the middle of an association (RFC 6951 §5.3, §5.4).

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_wire::{Chunk, Heartbeat, HeartbeatAck};

use whimbrel_testbed::peer::{Peer, Sent, quiet, route};

fn rebound() -> Route {
    let mut route = route();
    route.remote.set_port(40_000);
    route
}

/// The answer to the HEARTBEAT with which the node examines a new port.
fn proof(sent: &[Sent], peer: &Peer) -> Vec<u8> {
    let examined = sent.iter().filter(|sent| sent.route == rebound());
    let infos: Vec<&[u8]> = examined.flat_map(Sent::heartbeats).collect();
    assert_eq!(infos.len(), 1, "one HEARTBEAT");
    peer.packet(&[&HeartbeatAck { info: infos[0] }])
}

/// RFC 6951 §5.4: the new port is learnt from a packet that the Verification Tag lets in, and used as soon as it has answered a
/// HEARTBEAT; whatever must be found by the peer's address is found there (§5.3). What went to the old port meanwhile is lost, and
/// goes out again.
#[test]
fn the_new_port_is_learnt() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.deliver_on(rebound(), &peer.packet(&[&Heartbeat { info: b"still me" }]));
    let sent = bench.take();
    assert!(sent.iter().all(|sent| sent.route == rebound()));
    bench.send(0, b"on its way when the port changed");
    assert_eq!(bench.take_only().route, route());
    bench.deliver_on(rebound(), &proof(&sent, &peer));
    let again = bench.take_only();
    assert_eq!((again.route, again.data().len()), (rebound(), 1));
    bench.deliver_on(rebound(), &peer.sack(again.data()[0].tsn, 1 << 20));
    bench.take();
    bench.send(0, b"to the new port");
    assert_eq!(bench.take_only().route, rebound());
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

/// Somebody who has seen the tag names another port of the same address, where perhaps another host behind the NAT is. Without an
/// answer from there nothing but HEARTBEATs and answers goes to it, and no more than three bytes for each that came.
#[test]
fn a_port_that_has_not_answered_gets_no_data() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let (mut came, mut went) = (0, 0);
    for n in 0..50_u32 {
        let mut spoofed = rebound();
        spoofed.remote.set_port(40_000 + n as u16);
        let packet = match n % 2 {
            0 => peer.packet(&[&Heartbeat { info: b"come here" }]),
            // Never seen before, so that each must be acknowledged.
            _ => {
                let chunk = peer.data(0, n as u16 / 2, b"x");
                peer.packet(&[&chunk])
            }
        };
        came += packet.len();
        bench.deliver_on(spoofed, &packet);
        bench.send(0, &[7; 1000]);
        bench.pass(Duration::from_millis(20));
        for sent in bench.take() {
            if sent.route == route() {
                continue;
            }
            went += sent.bytes.len();
            let allowed = |chunk: &Chunk<'_>| matches!(chunk, Chunk::Heartbeat(_) | Chunk::HeartbeatAck(_));
            assert!(sent.chunks().iter().all(allowed), "{:?}", sent.chunks());
        }
    }
    assert!(went <= 3 * came, "{went} bytes for {came}");
    assert_eq!(bench.paths()[0].route, route());
}

/// While the old port is heard, too, nobody takes its place, even if somebody answers at the new one.
#[test]
fn a_port_that_is_alive_is_not_given_up() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.deliver_on(rebound(), &peer.packet(&[&Heartbeat { info: b"come here" }]));
    let sent = bench.take();
    let chunk = peer.data(0, 0, b"I am where I was");
    bench.deliver_on(route(), &peer.packet(&[&chunk]));
    bench.deliver_on(rebound(), &proof(&sent, &peer));
    bench.take();
    bench.send(0, b"to the old port");
    assert!(bench.take().iter().all(|sent| sent.route == route()));
}

/// RFC 6951 §5.4: a packet with a wrong tag moves nothing.
#[test]
fn a_stranger_moves_nothing() {
    let (mut bench, peer) = Peer::connected(quiet());
    let stranger = Peer { node_tag: peer.node_tag ^ 1, ..peer.clone() };
    bench.deliver_on(rebound(), &stranger.packet(&[&Heartbeat { info: b"me, honestly" }]));
    bench.take();
    bench.send(0, b"to the old port");
    let sent = bench.take_only();
    assert_eq!(sent.route, route());
    assert!(matches!(sent.chunks()[0], Chunk::Data(_)));
}
