//! What the two sides agree on while they set up an association, and how long they try (RFC 9260 §5.1, §5.1.1, §5.1.4,
//! §11.1.2, §11.2.4).

use core::time::Duration;

use whimbrel_proto::{CloseReason, Command, Config, ConnectToken, Event};
use whimbrel_wire::{Chunk, CookieAck, Heartbeat, HeartbeatAck, Parameter, cause_code};

use whimbrel_testbed::peer::{Bench, Peer, Sent, cause_codes, peer_address, quiet};

fn streams(outbound: u16, inbound_max: u16) -> Config {
    let mut config = quiet();
    (config.streams.outbound, config.streams.inbound_max) = (outbound, inbound_max);
    config
}

/// Outbound and inbound streams of the association that came up.
fn agreed(bench: &Bench) -> (u16, u16) {
    let up = bench.events.iter().find_map(|event| match event {
        Event::Up { outbound_streams, inbound_streams, .. } => Some((*outbound_streams, *inbound_streams)),
        _ => None,
    });
    up.unwrap()
}

/// RFC 9260 §5.1.1: each direction has the smaller of what its sender asks for and its receiver takes, whoever begins.
#[test]
fn each_direction_has_the_smaller_number_of_streams() {
    // The peer asks for 10 streams and takes 10.
    for (outbound, inbound_max, expected) in
        [(4, 20, (4, 10)), (20, 4, (10, 4)), (u16::MAX, u16::MAX, (10, 10)), (1, 1, (1, 1))]
    {
        let mut bench = Bench::new(streams(outbound, inbound_max));
        Peer::new().connect(&mut bench);
        assert_eq!(agreed(&bench), expected);
        // The peer learns no other number than the one that is used; what it may send is for it to reckon.
        let sent = Bench::new(streams(outbound, inbound_max)).ask(&Peer::new().init(&[]));
        let Chunk::InitAck(answer) = sent[0].only() else { panic!("{sent:?}") };
        assert_eq!((answer.outbound_streams, answer.inbound_streams), (expected.0, inbound_max));
        let mut bench = Bench::new(streams(outbound, inbound_max));
        Peer::new().accept(&mut bench, &[]);
        assert_eq!(agreed(&bench), expected);
    }
}

/// RFC 9260 §5.1.1, §3.3.10.1: a stream beyond that is reported, and its DATA goes nowhere.
#[test]
fn a_stream_beyond_the_agreed_ones_is_invalid() {
    let (mut bench, mut peer) = Peer::connected(streams(4, 4));
    let (last, beyond) = (peer.data(3, 0, b"fine"), peer.data(4, 0, b"not fine"));
    let sent = bench.ask(&peer.packet(&[&last, &beyond]));
    assert_eq!(cause_codes(&sent), [cause_code::INVALID_STREAM_IDENTIFIER]);
    assert_eq!(bench.received(), [b"fine"]);
}

/// Seconds from the first of these packets to each.
fn since_first(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|one| one.at.saturating_since(sent[0].at).as_secs()).collect()
}

/// 1 + 2 + 4 + ... seconds, up to RTO.Max.
const SERIES: [u64; 9] = [0, 1, 3, 7, 15, 31, 63, 123, 183];

/// RFC 9260 §6.3.1 C2, C5: the answer to INIT is the first measurement of its path, unless there were two that it may answer.
#[test]
fn a_repeated_init_measures_nothing() {
    for repetitions in 0..2 {
        let (mut bench, peer) = Peer::called(quiet());
        for _ in 0..repetitions {
            bench.pass(Duration::from_secs(1));
            bench.take_only();
        }
        bench.pass(Duration::from_millis(70));
        bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
        bench.deliver(&peer.packet(&[&CookieAck]));
        let expected = (repetitions == 0).then_some(Duration::from_millis(70));
        assert_eq!(bench.paths()[0].srtt, expected, "{repetitions}");
    }
}

/// RFC 9260 §6.3.3 E2: T1-init backs off for an address, so not before every address has had its try.
#[test]
fn each_way_is_tried_before_the_timer_backs_off() {
    let mut bench = Bench::new(quiet());
    bench.take();
    bench.connect(&[peer_address(1), peer_address(2)]);
    bench.pass(Duration::from_secs(7));
    let sent = bench.take();
    assert_eq!(since_first(&sent), [0, 1, 2, 4, 6]);
    assert!(sent.windows(2).all(|pair| pair[0].route != pair[1].route));
}

/// RFC 9260 §8.3, §5.1 E: the peer is established before we are, and may try the path at once. Its HEARTBEAT can overtake its
/// COOKIE ACK.
#[test]
fn a_heartbeat_before_the_cookie_ack_is_answered() {
    let (mut bench, peer) = Peer::called(quiet());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    let sent = bench.ask(&peer.packet(&[&Heartbeat { info: b"early" }]));
    assert_eq!((sent.len(), sent[0].tag()), (1, peer.tag));
    assert_eq!(sent[0].only(), Chunk::HeartbeatAck(HeartbeatAck { info: b"early" }));
    assert_eq!(bench.ups(), 0);
}

/// The peer is established, and its COOKIE ACK was lost. What it sends says so: COOKIE ECHO goes out again, once in an RTO, however far
/// T1-cookie has backed off (RFC 9260 §5.1), and the timer goes on.
#[test]
fn who_has_the_cookie_is_asked_for_cookie_ack_again() {
    let (mut bench, peer) = Peer::called(quiet());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    bench.pass(Duration::from_millis(20_500));
    bench.take();
    let echoes =
        |sent: &[Sent]| sent.iter().filter(|sent| matches!(sent.only(), Chunk::CookieEcho(_))).count();
    let heartbeat = peer.packet(&[&Heartbeat { info: b"up" }]);
    assert_eq!(echoes(&bench.ask(&heartbeat)), 1);
    assert_eq!(echoes(&bench.ask(&heartbeat)), 0);
    bench.pass(Duration::from_millis(1_100));
    assert_eq!(echoes(&bench.take()), 0);
    assert_eq!(echoes(&bench.ask(&heartbeat)), 1);
    // That of T1-cookie.
    bench.pass(Duration::from_secs(11));
    assert_eq!(echoes(&bench.take()), 1);
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
}

/// RFC 9260 §9.1: an attempt is given up. A peer that has answered has no association yet, but will have one when it gets
/// COOKIE ECHO; it is told. One that has not is told nothing: there is no tag to do it with.
#[test]
fn a_peer_that_has_answered_hears_that_the_attempt_is_over() {
    for answered in [false, true] {
        let (mut bench, peer) = Peer::called(quiet());
        if answered {
            bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
            bench.take();
        }
        bench.command(Command::CancelConnect { token: ConnectToken(1) });
        let sent = bench.take();
        assert_eq!(sent.len(), usize::from(answered));
        let aborts = |sent: &Sent| matches!(sent.only(), Chunk::Abort(abort) if !abort.tag_reflected);
        assert!(sent.iter().all(|sent| sent.tag() == peer.tag && aborts(sent)), "{sent:?}");
        assert_eq!((bench.closed(), bench.node.association_count()), (Some(CloseReason::Aborted), 0));
    }
}

/// RFC 9260 §5.1 A, §5.1.4, §6.3.3: INIT is repeated by T1-init, backing off, Max.Init.Retransmits times.
#[test]
fn an_unanswered_init_is_repeated_and_given_up() {
    let mut bench = Bench::new(quiet());
    bench.take();
    bench.connect(&[peer_address(1)]);
    bench.pass(Duration::from_secs(242));
    assert_eq!(bench.closed(), None);
    bench.pass(Duration::from_secs(2));
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
    let sent = bench.take();
    assert_eq!(since_first(&sent), SERIES);
    assert!(sent.iter().all(|one| one.bytes == sent[0].bytes), "the same INIT each time");
}

/// RFC 9260 §5.1 C, §5.1.4: so is COOKIE ECHO by T1-cookie.
#[test]
fn an_unanswered_cookie_echo_is_repeated_and_given_up() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    bench.take();
    bench.connect(&[peer_address(1)]);
    peer.learn_init(&bench.take_only());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    bench.pass(Duration::from_secs(250));
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
    let sent = bench.take();
    assert_eq!(since_first(&sent), SERIES);
    assert!(sent.iter().all(|one| matches!(one.only(), Chunk::CookieEcho(echo) if echo.cookie == b"cookie")));
}

/// RFC 9260 §3.3.10.4: an endpoint with as many associations as it is allowed says so, and keeps nothing.
#[test]
fn a_full_endpoint_is_out_of_resource() {
    let mut config = quiet();
    config.limits.associations = 1;
    let mut bench = Bench::new(config);
    Peer::new().connect(&mut bench);
    let mut second = Peer { port: 7001, tag: 0x3333_4444, ..Peer::new() };
    second.begin(&mut bench, &[]);
    let sent = bench.ask(&second.cookie_echo());
    assert_eq!(cause_codes(&sent), [cause_code::OUT_OF_RESOURCE]);
    assert_eq!(sent[0].tag(), second.tag);
    assert_eq!(bench.node.association_count(), 1);
}

/// RFC 9260 §11.1.2, RFC 5062 §2: without a port of the user's choice any of the 16,384 ephemeral ones is taken, each once for one
/// peer; when all are taken, the user learns that this is what is missing.
#[test]
fn ephemeral_ports_run_out_with_a_word_of_their_own() {
    let mut bench = Bench::new(quiet());
    let mut token = 0;
    let mut connect = |bench: &mut Bench, peer| {
        token += 1;
        bench.command(Command::Connect {
            token: ConnectToken(token),
            remote: vec![peer_address(peer)],
            remote_port: 7000,
            local_port: None,
        });
        bench.take();
    };
    for _ in 0..16_384 {
        connect(&mut bench, 1);
    }
    assert_eq!(bench.closed(), None);
    connect(&mut bench, 1);
    assert!(
        matches!(bench.closed(), Some(CloseReason::Refused(why)) if why.starts_with("no SCTP port is free"))
    );
    connect(&mut bench, 2);
    assert_eq!(bench.node.association_count(), 16_385);
}
