//! ABORT, ours and the peer's (RFC 9260 §9.1, §11.1.4, §11.2.5).

use bytes::Bytes;
use whimbrel_proto::{CloseReason, Command, Event, Message, SendError, StreamId};
use whimbrel_wire::{AbortBuilder, Cause, Chunk, ErrorBuilder, Parameter, cause_code};

use whimbrel_testbed::peer::{Bench, Peer, Raw, peer_address, quiet};

fn abort(bench: &mut Bench, reason: &'static [u8]) {
    let association = bench.association();
    bench.command(Command::Abort { association, reason: Bytes::from_static(reason) });
}

/// RFC 9260 §9.1, §3.3.7, §3.3.10.12: the ABORT carries the user's reason and no DATA; nothing is left, and what comes
/// for the association afterwards is out of the blue.
#[test]
fn the_users_abort_tells_why_and_leaves_nothing() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.send(0, &[1; 5000]);
    bench.take();
    abort(&mut bench, b"enough");
    let sent = bench.take_only();
    assert_eq!(sent.tag(), peer.tag);
    let Chunk::Abort(chunk) = sent.only() else { panic!("{sent:?}") };
    assert!(!chunk.tag_reflected);
    assert_eq!(chunk.causes.map(Result::unwrap).collect::<Vec<_>>(), [Cause::UserInitiatedAbort(b"enough")]);
    let closed = bench.events.iter().find_map(|event| match event {
        Event::Closed { reason, undelivered, .. } => Some((reason.clone(), *undelivered)),
        _ => None,
    });
    assert_eq!(closed, Some((CloseReason::Aborted, 5000)));
    assert_eq!(bench.node.association_count(), 0);
    let association = bench.association();
    bench.command(Command::Send { association, message: Message::new(StreamId(0), &b"too late"[..]) });
    assert!(matches!(bench.events.last(), Some(Event::SendRefused { error: SendError::Closed, .. })));
    let sent = bench.ask(&peer.sack(peer.node_tsn, 1000));
    assert!(matches!(sent[0].only(), Chunk::Abort(abort) if abort.tag_reflected));
}

/// A reason that is too long for any packet is cut.
#[test]
fn a_long_reason_is_cut() {
    let (mut bench, _) = Peer::connected(quiet());
    abort(&mut bench, &[b'!'; 100_000]);
    let sent = bench.take_only();
    let Chunk::Abort(chunk) = sent.only() else { panic!("{sent:?}") };
    let reasons: Vec<_> = chunk.causes.map(Result::unwrap).collect();
    assert_eq!(reasons, [Cause::UserInitiatedAbort(&[b'!'; 512])]);
}

/// RFC 9260 §9.1, §11.2.5: the peer's ABORT ends the association without an answer; the user gets the causes and the
/// reason, and of that packet nothing else.
#[test]
fn the_peers_abort_is_not_answered_and_told() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let chunk = peer.data(0, 0, b"last words");
    let causes = [Cause::ProtocolViolation(b"x"), Cause::UserInitiatedAbort(b"bye")];
    let sent = bench.ask(&peer.packet(&[&chunk, &AbortBuilder { tag_reflected: false, causes: &causes }]));
    assert!(sent.is_empty(), "{sent:?}");
    assert!(bench.received().is_empty(), "DATA must not come with an ABORT");
    let codes = vec![cause_code::PROTOCOL_VIOLATION, cause_code::USER_INITIATED_ABORT];
    let reason = CloseReason::AbortedByPeer { causes: codes, reason: Bytes::from_static(b"bye") };
    assert_eq!(bench.closed(), Some(reason));
    assert_eq!(bench.node.association_count(), 0);
}

/// RFC 9260 §3.3.10.13: a peer that says what it takes for a violation is quoted.
#[test]
fn the_peers_explanation_of_a_violation_is_told() {
    let (mut bench, peer) = Peer::connected(quiet());
    let long = [b'!'; 600];
    let causes = [Cause::ProtocolViolation(&long)];
    bench.ask(&peer.packet(&[&AbortBuilder { tag_reflected: false, causes: &causes }]));
    let codes = vec![cause_code::PROTOCOL_VIOLATION];
    let reason = CloseReason::AbortedByPeer { causes: codes, reason: Bytes::copy_from_slice(&long[..512]) };
    assert_eq!(bench.closed(), Some(reason));
}

/// RFC 9260 §9.1, §8.5.1 B: an ABORT that answers the INIT or the COOKIE ECHO ends the attempt.
#[test]
fn an_abort_during_the_handshake_ends_the_attempt() {
    for echoed in [false, true] {
        let mut bench = Bench::new(quiet());
        let mut peer = Peer::new();
        bench.take();
        bench.connect(&[peer_address(1)]);
        peer.learn_init(&bench.take_only());
        if echoed {
            bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
            bench.take();
        }
        let refusal = AbortBuilder { tag_reflected: false, causes: &[Cause::OutOfResource] };
        assert!(bench.ask(&peer.packet(&[&refusal])).is_empty());
        let reason =
            CloseReason::AbortedByPeer { causes: vec![cause_code::OUT_OF_RESOURCE], reason: Bytes::new() };
        assert_eq!(bench.closed(), Some(reason));
    }
}

/// RFC 9260 §3.3.7: other chunks may come before an ABORT.
#[test]
fn an_abort_behind_an_error_ends_the_attempt() {
    let (mut bench, peer) = Peer::called(quiet());
    let error = ErrorBuilder { causes: &[Cause::OutOfResource] };
    let abort = AbortBuilder { tag_reflected: false, causes: &[] };
    assert!(bench.ask(&peer.packet(&[&error, &abort])).is_empty());
    assert!(matches!(bench.closed(), Some(CloseReason::AbortedByPeer { .. })));
}

/// RFC 9260 §9.1, §3.3.7: of a packet that contains an ABORT nothing is delivered and nothing answered.
#[test]
fn what_comes_with_an_abort_is_ignored() {
    // A chunk type whose high bits ask for a report.
    let unknown = Raw::chunk(0xc7, 0, b"strange");
    for (tag_reflected, ends) in [(false, true), (true, false)] {
        let (mut bench, mut peer) = Peer::connected(quiet());
        let abort = AbortBuilder { tag_reflected, causes: &[] };
        let data = peer.data(0, 0, b"not to be delivered");
        let heartbeat = whimbrel_wire::Heartbeat { info: b"not to be answered" };
        let answers = bench.ask(&peer.packet(&[&unknown, &heartbeat, &data, &abort]));
        assert!(answers.is_empty(), "{answers:?}");
        bench.pass(core::time::Duration::from_millis(500));
        assert!(
            bench
                .take()
                .iter()
                .all(|sent| !sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Sack(_))))
        );
        assert!(bench.received().is_empty());
        assert_eq!(bench.closed().is_some(), ends);
    }
}

/// An ABORT that does not end anything (its T bit is wrong) spoils the COOKIE ECHO before it all the same.
#[test]
fn a_cookie_echo_with_an_abort_is_discarded() {
    let (mut bench, peer) = Peer::begun(quiet());
    let cookie = peer.cookie.clone();
    let echo = whimbrel_wire::CookieEcho { cookie: &cookie };
    let abort = AbortBuilder { tag_reflected: true, causes: &[] };
    assert!(bench.ask(&peer.packet(&[&echo, &abort])).is_empty());
    assert_eq!(bench.ups(), 0);
    bench.deliver(&peer.cookie_echo());
    assert_eq!(bench.ups(), 1);
}
