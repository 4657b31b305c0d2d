//! What comes in the same step as the end of an association finds that it is gone (RFC 9260 §8.4, §9.1, §9.2).

use bytes::Bytes;
use whimbrel_machine::{Ecn, Input};
use whimbrel_proto::{CloseReason, Command, ConnectToken, Event};
use whimbrel_wire::{AbortBuilder, Chunk, Shutdown, ShutdownComplete};

use whimbrel_testbed::peer::{Bench, NODE_PORT, PEER_PORT, Peer, peer_address, quiet, route};

const ABORT: AbortBuilder<'static> = AbortBuilder { tag_reflected: false, causes: &[] };

/// One step with these packets and commands.
fn together(bench: &mut Bench, packets: &[&[u8]], commands: Vec<Command>) {
    let datagram = |bytes| Input::Datagrams { route: route(), ecn: Ecn::NotCapable, bytes, segment: 2000 };
    let datagrams = packets.iter().copied().map(datagram);
    bench.step(datagrams.chain(commands.into_iter().map(Input::Command)).collect());
}

/// A peer that begins again right behind its ABORT.
#[test]
fn an_init_behind_an_abort_is_answered() {
    let (mut bench, peer) = Peer::connected(quiet());
    let again = Peer { tag: 0x5555_6666, ..Peer::new() };
    together(&mut bench, &[&peer.packet(&[&ABORT]), &again.init(&[])], Vec::new());
    let mut again = again;
    again.learn_init_ack(&bench.take_only());
    assert_ne!(again.node_tag, peer.node_tag, "it is a new association");
    bench.deliver(&again.cookie_echo());
    let ends: Vec<_> =
        bench.events.iter().filter(|e| matches!(e, Event::Up { .. } | Event::Closed { .. })).collect();
    assert!(matches!(ends[..], [Event::Up { .. }, Event::Closed { .. }, Event::Up { .. }]), "{ends:?}");
    assert_eq!(bench.restarts(), 0);
}

#[test]
fn an_init_behind_a_shutdown_complete_is_answered() {
    let (mut bench, peer) = Peer::connected(quiet());
    let shutdown = Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() };
    let sent = bench.ask(&peer.packet(&[&shutdown]));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
    let again = Peer { tag: 0x5555_6666, ..Peer::new() };
    let complete = peer.packet(&[&ShutdownComplete { tag_reflected: false }]);
    together(&mut bench, &[&complete, &again.init(&[])], Vec::new());
    assert_eq!(bench.closed(), Some(CloseReason::Shutdown));
    assert!(matches!(bench.take_only().only(), Chunk::InitAck(_)));
}

/// Where there is room for one association only, the end of the last one makes it.
#[test]
fn a_cookie_behind_an_abort_finds_its_place() {
    let mut config = quiet();
    config.limits.associations = 1;
    let mut bench = Bench::new(config);
    let (mut peer, mut again) = (Peer::new(), Peer { port: PEER_PORT + 1, tag: 0x5555_6666, ..Peer::new() });
    peer.connect(&mut bench);
    again.begin(&mut bench, &[]);
    together(&mut bench, &[&again.cookie_echo(), &peer.packet(&[&ABORT])], Vec::new());
    assert_eq!((bench.ups(), bench.node.association_count()), (1, 0), "there was no room yet");
    // RFC 9260 §5.3.1: with a new tag.
    let mut peer = Peer { tag: 0x7777_8888, ..Peer::new() };
    peer.connect(&mut bench);
    again.begin(&mut bench, &[]);
    together(&mut bench, &[&peer.packet(&[&ABORT]), &again.cookie_echo()], Vec::new());
    assert_eq!((bench.ups(), bench.node.association_count()), (3, 1));
}

/// DATA behind the ABORT is out of the blue.
#[test]
fn data_behind_an_abort_is_out_of_the_blue() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let data = peer.data(0, 0, b"late");
    let late = peer.packet(&[&data]);
    together(&mut bench, &[&peer.packet(&[&ABORT]), &late], Vec::new());
    let sent = bench.take_only();
    assert!(matches!(sent.only(), Chunk::Abort(abort) if abort.tag_reflected), "{sent:?}");
    assert_eq!((sent.tag(), bench.received().len()), (peer.node_tag, 0));
}

/// The user's own end of an association frees its ports at once, too.
#[test]
fn a_connect_behind_an_abort_is_carried_out() {
    let (mut bench, _) = Peer::connected(quiet());
    let association = bench.association();
    let connect = Command::Connect {
        token: ConnectToken(7),
        remote: vec![peer_address(1)],
        remote_port: PEER_PORT,
        local_port: Some(NODE_PORT),
    };
    let abort = Command::Abort { association, reason: Bytes::new() };
    together(&mut bench, &[], vec![abort, connect]);
    let sent = bench.take();
    let kinds: Vec<_> = sent.iter().map(|sent| sent.only()).collect();
    assert!(matches!(kinds[..], [Chunk::Abort(_), Chunk::Init(_)]), "{kinds:?}");
}
