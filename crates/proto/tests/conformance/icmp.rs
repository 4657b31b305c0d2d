//! ICMP messages, honest and forged (RFC 9260 §10; RFC 5062 §6; RFC 8899 §4.6).

use core::time::Duration;

use whimbrel_machine::{Route, Unreachable};
use whimbrel_proto::{AssociationFailure, CloseReason, Config, PathState};
use whimbrel_wire::{Chunk, HeartbeatAck, Parameter, chunk_type};

use whimbrel_testbed::peer::{self, Bench, Peer, Sent, ip, node_address, peer_address, quiet};

/// An association with data under way, and the packet it was sent in.
fn sending() -> (Bench, Peer, Sent) {
    sending_with(Config::rfc())
}

fn sending_with(config: Config) -> (Bench, Peer, Sent) {
    let (mut bench, peer) = Peer::connected(config);
    bench.send(0, &[1; 500]);
    let sent = bench.take().into_iter().rev().find(|sent| !sent.data().is_empty()).unwrap();
    (bench, peer, sent)
}

/// ICMP5, ICMP6: what quotes no packet of ours, or one with another tag or other ports, is ignored.
#[test]
fn a_message_without_the_right_tag_is_ignored() {
    let (mut bench, _, sent) = sending();
    let mut quotes: Vec<Vec<u8>> = (0..8).map(|length| sent.bytes[..length].to_vec()).collect();
    for index in 0..8 {
        let mut quote = sent.bytes.clone();
        quote[index] ^= 1;
        quotes.push(quote);
    }
    let mut zero = sent.bytes.clone();
    zero[4..8].fill(0);
    quotes.push(zero);
    let size = bench.paths()[0].packet_size;
    for quote in quotes {
        for reason in
            [Unreachable::Protocol, Unreachable::Destination, Unreachable::PacketTooBig { mtu: 600 }]
        {
            bench.unreachable(peer::route(), reason, &quote);
        }
    }
    assert_eq!(bench.closed(), None);
    assert_eq!((bench.paths()[0].packet_size, bench.paths()[0].error_count), (size, 0));
}

/// ICMP8: protocol unreachable for a packet that was ours is an ABORT.
#[test]
fn protocol_unreachable_ends_the_association() {
    let (mut bench, _, sent) = sending();
    bench.unreachable(peer::route(), Unreachable::Protocol, &sent.bytes[..8]);
    assert_eq!(bench.closed(), Some(CloseReason::NoSctp));
    assert!(bench.take().is_empty());
}

/// Where patience is a time, a host may refuse packets for some seconds: its interface has come back before its socket was bound. What it
/// sends meanwhile begins the count anew.
#[test]
fn a_peer_that_refuses_for_a_while_is_waited_for() {
    let mut config = quiet();
    config.failure.association = AssociationFailure::Silence(Duration::from_secs(3600));
    let (mut bench, mut peer) = (Bench::new(config), Peer::new());
    peer.accept(&mut bench, &[]);
    bench.send(0, b"x");
    let sent = bench.take_only();
    let refuse = |bench: &mut Bench| {
        bench.unreachable(peer::route(), Unreachable::Protocol, &sent.bytes[..8]);
        bench.closed()
    };
    for seconds in [0, 9] {
        bench.pass(Duration::from_secs(seconds));
        assert_eq!(refuse(&mut bench), None);
    }
    bench.deliver(&peer.sack(peer.node_tsn.prev(), 50_000));
    for seconds in [1, 9] {
        bench.pass(Duration::from_secs(seconds));
        assert_eq!(refuse(&mut bench), None);
    }
    bench.pass(Duration::from_secs(1));
    assert_eq!(refuse(&mut bench), Some(CloseReason::NoSctp));
}

/// Whoever has called us may sleep behind a translator that refuses what it has forgotten.
#[test]
fn a_caller_that_is_refused_for_is_waited_for_patiently() {
    let mut config = quiet();
    config.failure.association = AssociationFailure::Silence(Duration::from_secs(3600));
    let (mut bench, _) = Peer::connected(config);
    bench.send(0, b"x");
    let sent = bench.take_only();
    for minute in 0..=60 {
        bench.unreachable(peer::route(), Unreachable::Protocol, &sent.bytes[..8]);
        let gone = (minute == 60).then_some(CloseReason::NoSctp);
        assert_eq!(bench.closed(), gone, "{minute}");
        bench.pass(Duration::from_secs(60));
    }
}

/// ICMP9: of a peer with several addresses one may be unreachable; the association stays.
#[test]
fn protocol_unreachable_at_one_of_several_addresses_does_not() {
    let mut bench = Bench::with_addresses(quiet(), 2);
    let mut peer = Peer::new();
    peer.accept(&mut bench, &[ip("10.0.2.2").into()]);
    let second = Route { local: node_address(2), remote: peer_address(2) };
    let mut sent = bench.take();
    bench.pass(Duration::from_millis(1));
    sent.extend(bench.take());
    let probe = sent.iter().find(|sent| sent.route == second).expect("a probe of the second path");
    let info = match probe.chunks()[..] {
        [Chunk::Heartbeat(heartbeat)] => heartbeat.info.to_vec(),
        _ => panic!("{probe:?}"),
    };
    bench.deliver_on(second, &peer.packet(&[&HeartbeatAck { info: &info }]));
    assert_eq!(bench.paths()[1].state, PathState::Active);
    bench.send(0, b"x");
    let sent = bench.take_only();
    bench.unreachable(sent.route, Unreachable::Protocol, &sent.bytes);
    assert_eq!(bench.closed(), None);
    assert_eq!(bench.paths()[0].error_count, 1);
}

/// ICMP8, RFC 9260 §5.4: an address that the peer only claims is no way that would be left.
#[test]
fn protocol_unreachable_ends_an_association_whose_other_addresses_are_unconfirmed() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[ip("198.51.100.7")]);
    assert_eq!(bench.paths().len(), 2);
    bench.take();
    bench.send(0, b"x");
    let sent = bench.take_only();
    bench.unreachable(sent.route, Unreachable::Protocol, &sent.bytes);
    assert_eq!(bench.closed(), Some(CloseReason::NoSctp));
}

/// ICMP8: in COOKIE-WAIT the quoted INIT must be ours, by its Initiate Tag.
#[test]
fn protocol_unreachable_for_the_init_ends_the_attempt() {
    let mut bench = Bench::new(quiet());
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    let mut forged = init.bytes.clone();
    forged[19] ^= 1;
    bench.unreachable(init.route, Unreachable::Protocol, &forged);
    bench.unreachable(init.route, Unreachable::Protocol, &init.bytes[..16]);
    let mut no_init = init.bytes.clone();
    no_init[12] = chunk_type::HEARTBEAT;
    bench.unreachable(init.route, Unreachable::Protocol, &no_init);
    assert_eq!(bench.closed(), None);
    bench.unreachable(init.route, Unreachable::Protocol, &init.bytes[..20]);
    assert_eq!(bench.closed(), Some(CloseReason::NoSctp));
}

/// ICMP8: in COOKIE-ECHOED, too, protocol unreachable is an ABORT, and that of an INIT comes too late.
#[test]
fn protocol_unreachable_for_the_cookie_echo_ends_the_attempt() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    peer.learn_init(&init);
    let echo = bench.ask(&peer.init_ack(&[Parameter::StateCookie(b"cookie")])).remove(0);
    bench.unreachable(init.route, Unreachable::Protocol, &init.bytes);
    assert_eq!(bench.closed(), None);
    bench.unreachable(echo.route, Unreachable::Protocol, &echo.bytes[..8]);
    assert_eq!(bench.closed(), Some(CloseReason::NoSctp));
}

/// ICMP8, ICMP9: of several ways the next one is tried at once.
#[test]
fn an_unreachable_init_is_repeated_on_the_next_way() {
    for reason in [Unreachable::Protocol, Unreachable::Destination] {
        let mut bench = Bench::with_addresses(quiet(), 2);
        bench.connect(&[peer_address(1), peer_address(2)]);
        let init = bench.take_only();
        bench.unreachable(init.route, reason, &init.bytes);
        bench.pass(Duration::ZERO);
        let again = bench.take_only();
        assert!(matches!(again.only(), Chunk::Init(_)));
        assert_ne!(again.route, init.route);
        assert_eq!(bench.closed(), None);
    }
}

/// ICMP8, ICMP9: of several ways the next one is tried at once.
#[test]
fn an_unreachable_cookie_echo_is_repeated_on_the_next_way() {
    let mut bench = Bench::with_addresses(quiet(), 2);
    let mut peer = Peer::new();
    bench.connect(&[peer_address(1), peer_address(2)]);
    peer.learn_init(&bench.take_only());
    let echo = bench.ask(&peer.init_ack(&[Parameter::StateCookie(b"cookie")])).remove(0);
    bench.unreachable(echo.route, Unreachable::Protocol, &echo.bytes[..8]);
    bench.pass(Duration::ZERO);
    let again = bench.take_only();
    assert!(matches!(again.only(), Chunk::CookieEcho(_)));
    assert_ne!(again.route, echo.route);
    assert_eq!(bench.closed(), None);
}

/// ICMP3: destination unreachable does not end an association: anybody can say so, and it may be over in a second.
#[test]
fn destination_unreachable_is_a_hint() {
    let (mut bench, peer, sent) = sending();
    for _ in 0..100 {
        bench.unreachable(peer::route(), Unreachable::Destination, &sent.bytes);
    }
    assert_eq!(bench.closed(), None);
    peer::assert_alive(&mut bench, &peer);
}

/// ICMP7, RFC 8899 §4.6.2, §6.2.2.4, RFC 5062 §6: packet too big below any sane size, or above what was sent, is a lie.
#[test]
fn packet_too_big_has_a_floor_and_a_ceiling() {
    for config in [Config::rfc(), quiet()] {
        let (mut bench, _, sent) = sending_with(config);
        let before = bench.paths()[0].packet_size;
        for mtu in [0, 1, 27, 28, 68, 100, 200, 500, 9000, u32::MAX] {
            bench.unreachable(peer::route(), Unreachable::PacketTooBig { mtu }, &sent.bytes);
            assert_eq!(bench.paths()[0].packet_size, before, "{mtu}");
        }
        assert_eq!(bench.closed(), None);
    }
}

/// ICMP7, RFC 9260 §7.3: one that may be true is believed. An MTU is of IP packets: its header and UDP's are no part of ours.
#[test]
fn packet_too_big_is_believed() {
    let (mut bench, _, sent) = sending_with(quiet());
    assert!(bench.paths()[0].packet_size > 1400);
    bench.unreachable(peer::route(), Unreachable::PacketTooBig { mtu: 1400 }, &sent.bytes);
    assert_eq!(bench.paths()[0].packet_size, 1400 - 20 - 8);
}

/// A receiver that was killed answers every packet with port unreachable, at both of its addresses. At one of them it may still be.
#[test]
fn a_host_that_refuses_at_all_its_addresses_is_given_up() {
    for refusing in [1, 2] {
        let mut bench = Bench::with_addresses(Config::mobile(), 2);
        let mut peer = Peer::new();
        peer.accept(&mut bench, &[1, 2].map(|n| Parameter::from(peer_address(n).ip())));
        for second in 0..600 {
            for sent in bench.take() {
                let refuses = (1..=refusing).any(|n| peer_address(n).ip() == sent.route.remote.ip());
                if second >= 10 && refuses {
                    bench.unreachable(sent.route, Unreachable::Protocol, &sent.bytes);
                } else {
                    peer.answer_heartbeats(&mut bench, &sent);
                }
            }
            bench.pass(Duration::from_secs(1));
        }
        assert_eq!(bench.closed(), (refusing == 2).then_some(CloseReason::NoSctp));
    }
}
