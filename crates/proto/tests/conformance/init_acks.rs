//! INIT ACK that nobody honest sends (RFC 9260 §3.3.3, §5.1, §5.2.3; RFC 5062 §5, §6, §9).

use core::time::Duration;

use whimbrel_proto::{Config, Event};
use whimbrel_wire::{Chunk, CookieAck, Heartbeat, Init, InitAckBuilder, Parameter, cause_code};

use whimbrel_testbed::peer::{
    self, Bench, Peer, Sent, assert_alive, assert_init_aborted, ip, node_address, peer_address,
};

fn answer_init(answer: impl FnOnce(&mut Peer, &Init<'_>) -> Vec<u8>) -> (Bench, Vec<Sent>, Peer) {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    bench.connect(&[peer_address(1)]);
    let sent = bench.take_only();
    peer.learn_init(&sent);
    let Chunk::Init(init) = sent.only() else { unreachable!() };
    let answer = answer(&mut peer, &init);
    let sent = bench.ask(&answer);
    (bench, sent, peer)
}

fn builder<'a>(peer: &Peer, parameters: &'a [Parameter<'a>]) -> InitAckBuilder<'a> {
    InitAckBuilder {
        initiate_tag: peer.tag,
        a_rwnd: peer.a_rwnd,
        outbound_streams: peer.streams,
        inbound_streams: peer.streams,
        initial_tsn: peer.initial_tsn,
        parameters,
    }
}

fn failed(bench: &Bench) -> bool {
    bench.events.iter().any(|event| matches!(event, Event::ConnectFailed { .. }))
        && bench.node.association_count() == 0
}

/// RFC 9260 §3.3.3: an INIT ACK with a zero Initiate Tag destroys the attempt. The ABORT reflects the tag it came with.
#[test]
fn an_init_ack_with_a_zero_tag_is_aborted_with_the_tag_reflected() {
    let (bench, sent, peer) =
        answer_init(|peer, _| Peer { tag: 0, ..peer.clone() }.init_ack(&[Parameter::StateCookie(b"cookie")]));
    assert_eq!((sent.len(), sent[0].tag()), (1, peer.node_tag));
    assert!(matches!(sent[0].only(), Chunk::Abort(abort) if abort.tag_reflected));
    assert!(failed(&bench));
}

/// RFC 9260 §3.3.3: an INIT ACK with a window of less than 1500 bytes is answered with ABORT and discarded: the attempt goes
/// on, and a better answer is good.
#[test]
fn an_init_ack_with_a_window_too_small_for_a_packet_is_aborted_and_discarded() {
    let cookie = [Parameter::StateCookie(b"cookie")];
    let (mut bench, sent, peer) =
        answer_init(|peer, _| Peer { a_rwnd: 1499, ..peer.clone() }.init_ack(&cookie));
    assert_init_aborted(&sent, &peer, &[cause_code::INVALID_MANDATORY_PARAMETER]);
    assert!(!failed(&bench));
    bench.pass(Duration::from_millis(1100));
    assert!(matches!(bench.take_only().only(), Chunk::Init(init) if init.initiate_tag == peer.node_tag));
    let sent = bench.ask(&Peer { a_rwnd: 1500, ..peer }.init_ack(&cookie));
    assert!(matches!(sent[0].only(), Chunk::CookieEcho(_)));
}

/// RFC 9260 §3.3.3, §5.1.2 B, §3.3.10.2: zero streams, a host name, no cookie.
#[test]
fn an_unusable_init_ack_is_aborted() {
    let cookie = Parameter::StateCookie(b"cookie");
    for (outbound_streams, inbound_streams) in [(0, 10), (10, 0)] {
        let (bench, sent, peer) = answer_init(|peer, _| {
            peer.packet(&[&InitAckBuilder { outbound_streams, inbound_streams, ..builder(peer, &[cookie]) }])
        });
        assert_init_aborted(&sent, &peer, &[cause_code::INVALID_MANDATORY_PARAMETER]);
        assert!(failed(&bench));
    }
    let (bench, sent, peer) =
        answer_init(|peer, _| peer.init_ack(&[cookie, Parameter::HostName(b"victim.example\0")]));
    assert_init_aborted(&sent, &peer, &[cause_code::UNRESOLVABLE_ADDRESS]);
    assert!(failed(&bench));
    let (bench, sent, peer) = answer_init(|peer, _| peer.init_ack(&[]));
    assert_init_aborted(&sent, &peer, &[cause_code::MISSING_MANDATORY_PARAMETER]);
    assert!(failed(&bench));
}

/// RFC 9260 §8.5: an INIT ACK with a tag that is not the INIT's is nothing.
#[test]
fn an_init_ack_with_a_wrong_tag_is_discarded() {
    let (bench, sent, _) = answer_init(|peer, _| {
        let mut wrong = peer.clone();
        wrong.node_tag ^= 1;
        wrong.init_ack(&[Parameter::StateCookie(b"cookie")])
    });
    assert!(sent.is_empty() && !failed(&bench));
}

/// RFC 9260 §3.3.3: INIT ACK comes alone; behind another chunk it is none. The attempt goes on.
#[test]
fn an_init_ack_behind_another_chunk_is_discarded() {
    let cookie = [Parameter::StateCookie(b"cookie")];
    let (mut bench, sent, peer) =
        answer_init(|peer, _| peer.packet(&[&Heartbeat { info: b"x" }, &builder(peer, &cookie)]));
    assert!(sent.is_empty() && !failed(&bench));
    assert!(matches!(bench.ask(&peer.init_ack(&cookie))[0].only(), Chunk::CookieEcho(_)));
}

/// RFC 9260 §5.2.3, §5.2.5: INIT ACK and COOKIE ACK that come late or twice are discarded.
#[test]
fn late_init_acks_and_cookie_acks_are_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    peer.accept(&mut bench, &[]);
    bench.take();
    let other = Peer { tag: 99, ..peer.clone() };
    assert!(bench.ask(&other.init_ack(&[Parameter::StateCookie(b"other")])).is_empty());
    assert!(bench.ask(&peer.packet(&[&CookieAck])).is_empty());
    assert_eq!(bench.ups(), 1);
    assert_alive(&mut bench, &peer);
    // And in COOKIE-ECHOED: a second INIT ACK.
    let (mut bench, _, peer) = answer_init(|peer, _| peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    let other = Peer { tag: 99, ..peer.clone() };
    assert!(bench.ask(&other.init_ack(&[Parameter::StateCookie(b"other")])).is_empty());
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
    assert_alive(&mut bench, &peer);
}

/// A COOKIE ACK before there was a cookie establishes nothing (RFC 9260 §5.2.5).
#[test]
fn a_cookie_ack_in_cookie_wait_is_discarded() {
    let (bench, sent, _) = answer_init(|peer, _| peer.packet(&[&CookieAck]));
    assert!(sent.is_empty() && bench.ups() == 0 && !failed(&bench));
}

/// RFC 9260 §5.4 rules 1 and 3: an address that the user did not name is unconfirmed, even if the INIT ACK pretends to
/// come from there: a hostile server could spoof it, guess the rest, and aim our data at a stranger.
#[test]
fn an_init_ack_from_an_unnamed_address_does_not_confirm_it() {
    let (mut bench, peer) = Peer::called(Config::rfc());
    let mut spoofed = peer::route();
    spoofed.remote.set_ip(ip("198.51.100.7"));
    bench.deliver_on(spoofed, &peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    let echo = bench.take();
    assert!(echo.iter().all(|sent| sent.route.remote == peer_address(1)), "{echo:?}");
    bench.deliver_on(spoofed, &peer.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
    bench.take();
    bench.send(0, &[7; 5000]);
    let sent = bench.take();
    assert!(!sent.is_empty());
    for sent in sent {
        assert!(sent.data().is_empty() || sent.route.remote == peer_address(1), "{sent:?}");
    }
    assert_eq!(bench.paths()[0].route.local, node_address(1));
}
