//! What the peer wants authenticated is sent behind AUTH (RFC 4895 §6.2).

use core::time::Duration;

use bytes::Bytes;
use whimbrel_proto::{CloseReason, Command, Message, StreamId};
use whimbrel_wire::{Chunk, Heartbeat, Shutdown, ShutdownComplete, chunk_type};

use crate::auth_peer::{AuthPeer, SHA1, requiring};
use whimbrel_testbed::peer::{Bench, Sent};

/// Every type there is.
fn everything() -> Vec<u8> {
    (0..=255).filter(|t| ![1, 2, 14, 15].contains(t)).collect()
}

#[track_caller]
fn types_of(peer: &AuthPeer, sent: &[Sent]) -> Vec<(Vec<u8>, Vec<u8>)> {
    sent.iter().map(|sent| peer.opened(sent)).collect()
}

#[test]
fn required_chunks_go_behind_auth_and_others_do_not() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&[chunk_type::DATA]);
    peer.connect(&mut bench);
    bench.send(0, b"x");
    assert_eq!(peer.opened(&bench.take_only()), (vec![], vec![chunk_type::DATA]));
    let sent = bench.ask(&peer.packet(&[&Heartbeat { info: b"?" }]));
    assert_eq!(types_of(&peer, &sent), [(vec![chunk_type::HEARTBEAT_ACK], vec![])]);
}

/// Messages of every size around the limits: packets stay within the path MTU, trains go on, nothing gets lost.
#[test]
fn authenticated_data_of_every_size() {
    for hmac_id in [crate::auth_peer::SHA256, SHA1] {
        let mut config = requiring(&[]);
        config.congestion.initial_window = whimbrel_proto::InitialWindow::Packets(1000);
        config.congestion.burst = whimbrel_proto::BurstLimit::Packets(1000);
        let mut bench = Bench::new(config);
        let mut peer = AuthPeer::new(&[chunk_type::DATA]);
        peer.hmacs = vec![hmac_id];
        peer.peer.a_rwnd = 1 << 24;
        peer.connect(&mut bench);
        let mut largest = 0;
        for size in (1..60).chain(1300..1500).chain([5000, 65_000]) {
            let payload: Vec<u8> = (0..size).map(|n| (n ^ size) as u8).collect();
            bench.send(0, &payload);
            let sent = bench.take();
            let mut received = Vec::new();
            for packet in &sent {
                peer.opened(packet);
                largest = largest.max(packet.bytes.len());
                packet.data().iter().for_each(|data| received.extend_from_slice(data.payload));
                bench.deliver(&peer.sack(packet.data().last().unwrap().tsn, 1 << 24));
            }
            assert_eq!(received, payload);
            bench.take();
        }
        assert_eq!(largest, 1452, "the packet size is used, and no more");
    }
}

/// Retransmissions are new packets with an HMAC of their own.
#[test]
fn retransmissions_are_authenticated() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&[chunk_type::DATA]);
    peer.connect(&mut bench);
    for payload in [&[7; 1400][..], b"small", &[8; 1400]] {
        bench.send(0, payload);
    }
    let first = bench.take();
    bench.pass(Duration::from_millis(1500));
    let again = bench.take();
    assert!(!again.is_empty());
    for sent in again.iter().chain(&first) {
        let (_, behind) = peer.opened(sent);
        assert!(behind.contains(&chunk_type::DATA) && sent.bytes.len() <= 1452);
    }
}

/// SACK, HEARTBEAT, SHUTDOWN and the rest: no way out leads past AUTH.
#[test]
fn a_peer_that_requires_everything_gets_everything_authenticated() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&everything());
    let echo = peer.accept(&mut bench);
    assert_eq!(peer.opened(&echo), (vec![], vec![chunk_type::COOKIE_ECHO]));
    bench.take();

    let association = bench.association();
    let path = bench.paths()[0].id;
    bench.command(Command::RequestHeartbeat { association, path });
    assert_eq!(types_of(&peer, &bench.take()), [(vec![], vec![chunk_type::HEARTBEAT])]);
    bench.pass(Duration::from_millis(1));

    let data = [peer.data(0, 0, b"x"), peer.data(0, 1, b"y")];
    let sent = bench.ask(&peer.signed(&[&data[0], &Heartbeat { info: b"?" }]));
    assert_eq!(types_of(&peer, &sent), [(vec![], vec![chunk_type::HEARTBEAT_ACK, chunk_type::SACK])]);
    bench.deliver(&peer.signed(&[&data[1]]));
    bench.pass(Duration::from_millis(200));
    assert_eq!(types_of(&peer, &bench.take()), [(vec![], vec![chunk_type::SACK])]);
    // A gap, and its end.
    let missing = peer.data(0, 2, b"y");
    let third = peer.data(0, 3, b"z");
    for data in [third, missing] {
        let sent = bench.ask(&peer.signed(&[&data]));
        assert_eq!(types_of(&peer, &sent), [(vec![], vec![chunk_type::SACK])]);
    }
    // An unknown chunk that is to be reported.
    let sent = bench.ask(&peer.packet(&[&whimbrel_testbed::peer::Raw::chunk(0x7f, 0, b"??")]));
    assert_eq!(types_of(&peer, &sent), [(vec![], vec![chunk_type::ERROR])]);

    bench.shutdown();
    let sent = bench.take();
    let (before, behind) = peer.opened(&sent[0]);
    assert_eq!((before, behind.last()), (vec![], Some(&chunk_type::SHUTDOWN)));
    let sent = bench.ask(&peer.packet(&[&whimbrel_wire::ShutdownAck]));
    assert!(matches!(sent[0].only(), Chunk::ShutdownComplete(_)), "which is never authenticated");
    assert_eq!(bench.closed(), Some(CloseReason::Shutdown));
}

#[test]
fn a_server_authenticates_cookie_ack_and_shutdown_ack() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&everything());
    peer.begin(&mut bench);
    let sent = bench.ask(&peer.cookie_echo());
    assert_eq!(peer.opened(&sent[0]), (vec![], vec![chunk_type::COOKIE_ACK]));
    let shutdown = Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() };
    let sent = bench.ask(&peer.packet(&[&shutdown]));
    assert_eq!(types_of(&peer, &sent), [(vec![], vec![chunk_type::SHUTDOWN_ACK])]);
    bench.deliver(&peer.packet(&[&ShutdownComplete { tag_reflected: false }]));
    assert_eq!(bench.closed(), Some(CloseReason::Shutdown));
}

#[test]
fn aborts_are_authenticated() {
    for violation in [false, true] {
        let mut bench = Bench::new(requiring(&[]));
        let mut peer = AuthPeer::new(&everything());
        peer.connect(&mut bench);
        if violation {
            let empty = peer.data(0, 0, b"");
            bench.deliver(&peer.packet(&[&empty]));
        } else {
            let association = bench.association();
            bench.command(Command::Abort { association, reason: Bytes::from_static(b"bye") });
        }
        assert_eq!(types_of(&peer, &bench.take()), [(vec![], vec![chunk_type::ABORT])]);
    }
}

/// A SACK that needs AUTH when DATA does not, and the other way round: both fit, in either order of need.
#[test]
fn sack_and_data_in_one_packet() {
    for (required, before, behind) in [
        (vec![chunk_type::SACK], vec![], vec![chunk_type::SACK, chunk_type::DATA]),
        (vec![chunk_type::DATA], vec![chunk_type::SACK], vec![chunk_type::DATA]),
        (vec![chunk_type::SACK, chunk_type::DATA], vec![], vec![chunk_type::SACK, chunk_type::DATA]),
    ] {
        let mut bench = Bench::new(requiring(&[]));
        let mut peer = AuthPeer::new(&required);
        peer.connect(&mut bench);
        for n in 0..60 {
            let data = peer.data(0, n, b"question");
            bench.deliver(&peer.packet(&[&data]));
            bench.take();
            let association = bench.association();
            bench.command(Command::Release { association, bytes: 8 });
            let message = Message::new(StreamId(0), vec![1; 1340 + usize::from(n)]);
            bench.command(Command::Send { association, message });
            let sent = bench.take();
            let mut last = None;
            for packet in &sent {
                let opened = peer.opened(packet);
                assert!(packet.bytes.len() <= 1452);
                last = packet.data().last().map(|data| data.tsn).or(last);
                if packet.data().len() == 1 && packet.chunks().iter().any(|c| matches!(c, Chunk::Sack(_))) {
                    assert_eq!(opened, (before.clone(), behind.clone()));
                }
            }
            bench.deliver(&peer.sack(last.expect("DATA was sent"), 100_000));
            bench.pass(Duration::from_millis(300));
            bench.take();
        }
    }
}

/// `PmtuConfig::cut_for` is the size of a packet, and AUTH is in it.
#[test]
fn authenticated_data_fits_the_packets_that_it_is_cut_for() {
    let mut config = requiring(&[]);
    config.pmtu.cut_for = Some(512);
    let mut bench = Bench::new(config);
    let mut peer = AuthPeer::new(&[chunk_type::DATA]);
    peer.connect(&mut bench);
    bench.send(0, &[1; 3000]);
    let sent = bench.take();
    // Common header, AUTH with SHA-256, DATA header.
    let packet = |sent: &Sent| sent.data().iter().map(|data| 12 + 40 + 16 + data.payload.len()).max();
    assert_eq!(sent.iter().filter_map(packet).max(), Some(512));
}
