//! State Cookies: forged, altered, replayed, stale (RFC 9260 §5.1.3, §5.1.5, §5.2.4, §5.2.6; RFC 5062 §6, §7).

use core::time::Duration;

use whimbrel_proto::{Command, Config, Event};
use whimbrel_wire::{Abort, Cause, Causes, Chunk, CookieEcho, ErrorBuilder, Parameter, Tsn, cause_code};

use whimbrel_testbed::peer::{Bench, NODE_PORT, Peer, assert_alive, cause_codes, packet, peer_address};

/// RFC 9260 §5.1.5 step 2: a cookie that fails authentication is discarded without an answer. No byte of it is
/// outside the MAC.
#[test]
fn every_flipped_byte_of_a_cookie_is_noticed() {
    let (mut bench, mut peer) = Peer::begun(Config::rfc());
    let genuine = peer.cookie.clone();
    for index in 0..genuine.len() {
        for bit in [0x01, 0x80] {
            peer.cookie = genuine.clone();
            peer.cookie[index] ^= bit;
            assert!(bench.ask(&peer.cookie_echo()).is_empty(), "byte {index}");
        }
    }
    for length in 0..genuine.len() {
        peer.cookie = genuine[..length].to_vec();
        assert!(bench.ask(&peer.cookie_echo()).is_empty(), "{length} bytes");
    }
    assert_eq!(bench.node.association_count(), 0);
    assert_eq!(bench.node.endpoint_stats().cookies_refused as usize, 3 * genuine.len());
    peer.cookie = genuine;
    bench.deliver(&peer.cookie_echo());
    assert_eq!(bench.ups(), 1);
}

/// RFC 9260 §5.1: a cookie for a port at which nobody listens any more begins no association; the peer is told.
#[test]
fn a_cookie_for_a_port_that_is_closed_since_is_aborted() {
    let (mut bench, peer) = Peer::begun(Config::rfc());
    bench.command(Command::StopListening { port: NODE_PORT });
    let sent = bench.ask(&peer.cookie_echo());
    assert_eq!((sent.len(), sent[0].tag()), (1, peer.tag));
    assert!(matches!(sent[0].only(), Chunk::Abort(abort) if !abort.tag_reflected));
    assert_eq!((bench.ups(), bench.node.association_count()), (0, 0));
}

/// RFC 9260 §5.1.5 step 3, RFC 5062 §7: a cookie is good for the ports and the tag it was made for.
#[test]
fn a_cookie_is_refused_for_other_ports_and_other_tags() {
    let mut bench = Bench::new(Config::rfc());
    bench.command(Command::Listen { port: NODE_PORT + 1 });
    let mut peer = Peer::new();
    peer.begin(&mut bench, &[]);
    let echo = CookieEcho { cookie: &peer.cookie };
    let mut header = peer.header(peer.node_tag);
    header.source_port += 1;
    assert!(bench.ask(&packet(header, &[&echo])).is_empty());
    let mut header = peer.header(peer.node_tag);
    header.destination_port += 1;
    assert!(bench.ask(&packet(header, &[&echo])).is_empty());
    assert!(bench.ask(&packet(peer.header(peer.node_tag ^ 1), &[&echo])).is_empty());
    assert_eq!(bench.node.association_count(), 0);
}

/// Keys belong to one endpoint: a cookie of another one means nothing.
#[test]
fn a_cookie_of_another_endpoint_is_forged() {
    let mut other = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    peer.begin(&mut other, &[]);
    let mut bench = Bench::new(Config::rfc());
    // Same seed, so the same keys, unless a key period has passed for one of them.
    bench.pass(Duration::from_secs(3 * 3600));
    assert!(bench.ask(&peer.cookie_echo()).is_empty());
    assert_eq!(bench.node.association_count(), 0);
}

/// RFC 9260 §5.2.4 action D: while the association is up, its own cookie changes nothing; COOKIE ACK is repeated.
#[test]
fn a_cookie_replayed_while_up_only_repeats_the_cookie_ack() {
    let (mut bench, peer) = Peer::connected(Config::rfc());
    bench.send(0, b"before");
    let before = bench.paths();
    for _ in 0..3 {
        let sent = bench.ask(&peer.cookie_echo());
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].only(), Chunk::CookieAck);
    }
    assert_eq!((bench.ups(), bench.restarts()), (1, 0));
    assert_eq!(bench.paths()[0].flight_size, before[0].flight_size);
    // Even a stale one, as long as it is this association's (§5.2.4 step 3).
    bench.pass(Duration::from_secs(70));
    let sent = bench.ask(&peer.cookie_echo());
    assert!(sent.iter().any(|sent| sent.chunks().contains(&Chunk::CookieAck)));
    assert_eq!((bench.ups(), bench.restarts()), (1, 0));
}

/// RFC 9260 §5.3.1: each association has tags of its own. Who recorded a COOKIE ECHO, with the DATA bundled behind it,
/// must not be able to have it all happen again once the association is gone (RFC 5062 §6: replay).
#[test]
fn a_cookie_replayed_after_the_association_has_ended_begins_no_other() {
    let (mut bench, mut peer) = Peer::begun(Config::rfc());
    let cookie = peer.cookie.clone();
    let data = peer.data(0, 0, b"pay 100");
    let recorded = peer.packet(&[&CookieEcho { cookie: &cookie }, &data]);
    bench.deliver(&recorded);
    assert_eq!(bench.received(), [b"pay 100"]);
    bench.deliver(&peer.packet(&[&Abort { tag_reflected: false, causes: Causes::from_wire(&[]) }]));
    assert_eq!(bench.node.association_count(), 0);
    for _ in 0..4 {
        bench.ask(&recorded);
        assert_eq!((bench.node.association_count(), bench.ups()), (0, 1));
        bench.pass(Duration::from_secs(10));
    }
    assert_eq!(bench.received().len(), 1);
    // Later the cookie is stale anyway.
    bench.pass(Duration::from_secs(60));
    assert_eq!(cause_codes(&bench.ask(&recorded)), [cause_code::STALE_COOKIE]);
    // A new handshake is another matter.
    bench.events.clear();
    let mut peer = Peer::new();
    peer.connect(&mut bench);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §5.1.5 step 4, §3.3.10.3: a cookie past its life is answered with ERROR and the excess in microseconds.
#[test]
fn a_stale_cookie_is_reported_with_its_staleness() {
    let (mut bench, peer) = Peer::begun(Config::rfc());
    bench.pass(Duration::from_secs(60) + Duration::from_micros(1234));
    let sent = bench.ask(&peer.cookie_echo());
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].tag(), peer.tag);
    let Chunk::Error(error) = sent[0].only() else { panic!("{sent:?}") };
    assert_eq!({ error.causes }.next(), Some(Ok(Cause::StaleCookie { microseconds: 1234 })));
    assert_eq!(bench.node.association_count(), 0);
}

/// RFC 9260 §3.3.2.1.3: a Cookie Preservative makes the cookie live longer, but not as long as anybody likes.
#[test]
fn a_cookie_preservative_adds_a_bounded_time() {
    for (asked_ms, wait_ms, good) in [(1000, 60_900, true), (1000, 61_100, false), (u32::MAX, 65_100, false)]
    {
        let mut bench = Bench::new(Config::rfc());
        let mut peer = Peer::new();
        peer.begin(&mut bench, &[Parameter::CookiePreservative(asked_ms)]);
        bench.pass(Duration::from_millis(wait_ms));
        bench.deliver(&peer.cookie_echo());
        assert_eq!(bench.ups() == 1, good, "{asked_ms} {wait_ms}");
    }
}

/// RFC 9260 §5.2.6 item 3: told that its cookie is stale, the client asks anew, with a Cookie Preservative of the
/// measured round trip and at most a second.
#[test]
fn a_stale_cookie_error_makes_the_client_ask_for_a_longer_life() {
    let (mut bench, mut peer) = Peer::called(Config::rfc());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"first")]));
    bench.take();
    bench.pass(Duration::from_millis(300));
    let stale = ErrorBuilder { causes: &[Cause::StaleCookie { microseconds: 5 }] };
    let sent = bench.ask(&peer.packet(&[&stale]));
    assert_eq!(sent.len(), 1);
    let Chunk::Init(init) = sent[0].only() else { panic!("{sent:?}") };
    let asked = { init.parameters }.find_map(|parameter| match parameter {
        Ok(Parameter::CookiePreservative(milliseconds)) => Some(milliseconds),
        _ => None,
    });
    assert_eq!(asked, Some(1300));
    peer.learn_init(&sent[0]);
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"second")]));
    bench.deliver(&peer.packet(&[&whimbrel_wire::CookieAck]));
    assert_eq!(bench.ups(), 1);
}

/// RFC 9260 §5.2.6 lets the client try again; a server that calls every cookie stale must not keep it trying for
/// ever.
#[test]
fn a_server_that_calls_every_cookie_stale_is_given_up() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    bench.connect(&[peer_address(1)]);
    for round in 0..100 {
        let sent = bench.take();
        let Some(init) = sent.last() else { break };
        peer.learn_init(init);
        bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
        bench.take();
        let stale = ErrorBuilder { causes: &[Cause::StaleCookie { microseconds: 5 }] };
        bench.deliver(&peer.packet(&[&stale]));
        assert!(round < 20, "still trying");
    }
    assert!(bench.events.iter().any(|event| matches!(event, Event::ConnectFailed { .. })));
    assert_eq!(bench.node.association_count(), 0);
}

/// RFC 9260 §5.2.6: a stale cookie error that comes when the association is up is discarded.
#[test]
fn a_stale_cookie_error_does_not_touch_an_established_association() {
    let (mut bench, peer) = Peer::connected(Config::rfc());
    let events = bench.events.len();
    let stale = ErrorBuilder { causes: &[Cause::StaleCookie { microseconds: 5 }] };
    assert!(bench.ask(&peer.packet(&[&stale])).is_empty());
    assert_eq!(bench.events.len(), events);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §5.1 D: DATA behind COOKIE ECHO is taken; COOKIE ACK is the first chunk of the answer.
#[test]
fn data_bundled_with_cookie_echo_is_delivered_and_cookie_ack_comes_first() {
    let (mut bench, mut peer) = Peer::begun(Config::rfc());
    let cookie = peer.cookie.clone();
    let data = peer.data(3, 0, b"early");
    let sent = bench.ask(&peer.packet(&[&CookieEcho { cookie: &cookie }, &data]));
    assert_eq!(sent[0].chunks()[0], Chunk::CookieAck);
    assert_eq!(bench.received(), [b"early"]);
    let acked = sent
        .iter()
        .flat_map(|sent| sent.chunks())
        .any(|chunk| matches!(chunk, Chunk::Sack(sack) if sack.cumulative_tsn_ack == Tsn(1000)));
    assert!(acked);
}
