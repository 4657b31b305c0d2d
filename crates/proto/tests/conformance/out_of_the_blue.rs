//! Packets that belong to no association, and tags that are not right (RFC 9260 §8.4, §8.5).

use whimbrel_proto::{CloseReason, Config};
use whimbrel_wire::{
    Abort, Cause, Causes, Chunk, CookieAck, CookieEcho, EmitChunk, ErrorBuilder, Heartbeat, Parameter,
    SackBuilder, Shutdown, ShutdownAck, ShutdownComplete, Tsn,
};

use whimbrel_testbed::peer::{self, Bench, Peer, Raw, Sent, assert_alive, data, ip, packet};

const TAG: u32 = 0xdead_beef;

fn blue(chunks: &[&dyn EmitChunk]) -> Vec<Sent> {
    Bench::new(Config::rfc()).ask(&packet(Peer::new().header(TAG), chunks))
}

fn abort(tag_reflected: bool) -> Abort<'static> {
    Abort { tag_reflected, causes: Causes::from_wire(&[]) }
}

#[track_caller]
fn assert_abort_reflected(sent: &[Sent]) {
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0].tag(), TAG);
    let Chunk::Abort(abort) = sent[0].only() else { panic!("{sent:?}") };
    assert!(abort.tag_reflected);
}

/// RFC 9260 §8.4 rule 2: wherever in the packet the ABORT is.
#[test]
fn rule_2_a_packet_with_abort_is_discarded() {
    assert!(blue(&[&abort(false)]).is_empty());
    assert!(blue(&[&abort(true)]).is_empty());
    assert!(blue(&[&data(Tsn(1), 0, 0, b"x"), &abort(false)]).is_empty());
}

/// RFC 9260 §8.4 rule 4: COOKIE ECHO is processed as in §5.1, which discards what does not authenticate.
#[test]
fn rule_4_a_cookie_echo_is_judged_by_its_cookie() {
    assert!(blue(&[&CookieEcho { cookie: b"not ours" }]).is_empty());
}

/// RFC 9260 §8.4 rule 5: SHUTDOWN COMPLETE with the reflected tag and the T bit.
#[test]
fn rule_5_a_shutdown_ack_is_completed() {
    let sent = blue(&[&ShutdownAck]);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].tag(), TAG);
    assert_eq!(sent[0].only(), Chunk::ShutdownComplete(ShutdownComplete { tag_reflected: true }));
}

/// RFC 9260 §8.4 rule 5: wherever in the packet it is, and before rules 6 to 8. Behind the ERROR that explains it
/// (§3.3.10.10), for instance.
#[test]
fn rule_5_comes_before_those_that_follow() {
    let explanation = ErrorBuilder { causes: &[Cause::CookieReceivedWhileShuttingDown] };
    let stale = ErrorBuilder { causes: &[Cause::StaleCookie { microseconds: 1 }] };
    let others: [&dyn EmitChunk; 4] = [&explanation, &stale, &CookieAck, &Heartbeat { info: b"x" }];
    for other in others {
        for chunks in [[other, &ShutdownAck], [&ShutdownAck, other]] {
            let sent = blue(&chunks);
            assert_eq!(sent.len(), 1);
            assert_eq!(sent[0].only(), Chunk::ShutdownComplete(ShutdownComplete { tag_reflected: true }));
        }
    }
    assert!(blue(&[&ShutdownAck, &abort(false)]).is_empty(), "but rule 2 comes first");
}

/// RFC 9260 §8.4 rule 6.
#[test]
fn rule_6_a_shutdown_complete_is_discarded() {
    for tag_reflected in [false, true] {
        assert!(blue(&[&ShutdownComplete { tag_reflected }]).is_empty());
    }
}

/// RFC 9260 §8.4 rule 7: or two hosts would abort each other's aborts.
#[test]
fn rule_7_a_stale_cookie_error_and_a_cookie_ack_are_discarded() {
    assert!(blue(&[&CookieAck]).is_empty());
    assert!(blue(&[&CookieAck, &data(Tsn(1), 0, 0, b"x")]).is_empty());
    assert!(blue(&[&ErrorBuilder { causes: &[Cause::StaleCookie { microseconds: 1 }] }]).is_empty());
    assert!(
        blue(&[&ErrorBuilder { causes: &[Cause::OutOfResource, Cause::StaleCookie { microseconds: 1 }] }])
            .is_empty()
    );
}

/// RFC 9260 §8.5.1 A: INIT comes alone and with a zero tag. Behind another chunk nothing in the packet counts, and there is no tag
/// that an ABORT would be right with.
#[test]
fn an_init_behind_another_chunk_is_discarded() {
    let peer = Peer::new();
    assert!(blue(&[&Heartbeat { info: b"x" }, &peer.init_builder(&[])]).is_empty());
}

/// RFC 9260 §8.4 rule 8: everything else is answered with ABORT, the tag reflected.
#[test]
fn rule_8_anything_else_is_aborted() {
    assert_abort_reflected(&blue(&[&data(Tsn(1), 0, 0, b"x")]));
    assert_abort_reflected(&blue(&[&Heartbeat { info: b"x" }]));
    assert_abort_reflected(&blue(&[&Shutdown { cumulative_tsn_ack: Tsn(1) }]));
    assert_abort_reflected(&blue(&[&ErrorBuilder { causes: &[Cause::OutOfResource] }]));
    assert_abort_reflected(&blue(&[&Raw::chunk(0x3e, 0, b"unknown")]));
    let sack =
        SackBuilder { cumulative_tsn_ack: Tsn(1), a_rwnd: 1, gap_ack_blocks: &[], duplicate_tsns: &[] };
    assert_abort_reflected(&blue(&[&sack]));
}

/// RFC 9260 §8.4: an answer to an out of the blue packet is no question: two endpoints cannot keep each other busy.
#[test]
fn answers_to_out_of_the_blue_packets_are_never_answered() {
    let questions: [&dyn EmitChunk; 3] = [&data(Tsn(1), 0, 0, b"x"), &ShutdownAck, &Heartbeat { info: b"x" }];
    for question in questions {
        let answer = blue(&[question]).remove(0);
        assert!(Bench::new(Config::rfc()).ask(&answer.bytes).is_empty());
    }
}

/// RFC 9260 §8.5: a packet with a wrong tag is silently discarded; nothing in it happens.
#[test]
fn a_wrong_tag_is_discarded() {
    let (mut bench, peer) = Peer::connected(Config::rfc());
    let mut liar = peer.clone();
    liar.node_tag ^= 0x8000;
    let chunks: [&dyn EmitChunk; 6] = [
        &data(peer.tsn, 0, 0, b"x"),
        &Heartbeat { info: b"x" },
        &Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() },
        &abort(false),
        &ShutdownAck,
        &CookieAck,
    ];
    for chunk in chunks {
        assert!(bench.ask(&liar.packet(&[chunk])).is_empty());
    }
    assert!(bench.received().is_empty());
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §8.5.1 B: ABORT counts with our tag and no T bit, or with the peer's tag and the T bit; no other way.
#[test]
fn abort_is_accepted_with_the_right_combination_of_tag_and_t_bit_only() {
    for (ours, tag_reflected, accepted) in
        [(true, false, true), (true, true, false), (false, true, true), (false, false, false)]
    {
        let (mut bench, peer) = Peer::connected(Config::rfc());
        let tag = if ours { peer.node_tag } else { peer.tag };
        let sent = bench.ask(&packet(peer.header(tag), &[&abort(tag_reflected)]));
        assert!(sent.is_empty());
        let aborted = matches!(bench.closed(), Some(CloseReason::AbortedByPeer { .. }));
        assert_eq!(aborted, accepted, "our tag: {ours}, T bit: {tag_reflected}");
    }
}

/// RFC 9260 §8.5.1 B: a T bit with a tag that is neither's is a guess.
#[test]
fn a_reflected_abort_with_a_guessed_tag_is_discarded() {
    let (mut bench, peer) = Peer::connected(Config::rfc());
    assert!(bench.ask(&packet(peer.header(peer.tag ^ 1), &[&abort(true)])).is_empty());
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §8.5.1 B, §3.3.7: other chunks may come before the ABORT, whose tag and T bit decide.
#[test]
fn a_reflected_abort_counts_behind_other_chunks() {
    let (mut bench, peer) = Peer::connected(Config::rfc());
    let error = ErrorBuilder { causes: &[Cause::OutOfResource] };
    assert!(bench.ask(&packet(peer.header(peer.tag), &[&error, &abort(false)])).is_empty());
    assert_eq!(bench.closed(), None);
    assert!(bench.ask(&packet(peer.header(peer.tag), &[&error, &abort(true)])).is_empty());
    assert!(matches!(bench.closed(), Some(CloseReason::AbortedByPeer { .. })));
}

/// RFC 9260 §8.5.1 B: during the handshake, too, our own tag and the T bit do not go together.
#[test]
fn a_handshake_goes_on_after_an_abort_with_our_tag_and_the_t_bit() {
    let (mut bench, peer) = Peer::called(Config::rfc());
    assert!(bench.ask(&peer.packet(&[&abort(true)])).is_empty());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    assert!(bench.ask(&peer.packet(&[&abort(true)])).is_empty());
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!((bench.ups(), bench.closed()), (1, None));
}

/// RFC 9260 §9.1, §8.5.1 E: a packet with ABORT is not answered, though there is a SHUTDOWN ACK in it as well, whichever comes first,
/// and whether the ABORT can be read or not.
#[test]
fn a_shutdown_ack_beside_an_abort_is_not_completed() {
    let (mut bench, peer) = Peer::called(Config::rfc());
    let malformed = Raw::chunk(6, 0, &[0, 12, 0, 200, 1, 2, 3, 4]);
    let aborts: [&dyn EmitChunk; 3] = [&abort(false), &abort(true), &malformed];
    for one in aborts {
        for chunks in [[one, &ShutdownAck], [&ShutdownAck, one]] {
            assert!(bench.ask(&packet(peer.header(TAG), &chunks)).is_empty());
        }
    }
    assert_eq!(bench.closed(), None);
}

/// RFC 9260 §3.3.7, §9.1: an ABORT with a format error is silently discarded, in whatever state, and not answered as out of
/// the blue either.
#[test]
fn an_abort_with_a_format_error_is_discarded() {
    let malformed = |flags| Raw::chunk(6, flags, &[0, 12, 0, 200, 1, 2, 3, 4]);
    assert!(blue(&[&malformed(0)]).is_empty());
    let (mut bench, peer) = Peer::called(Config::rfc());
    assert!(bench.ask(&peer.packet(&[&malformed(0)])).is_empty());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    assert!(bench.ask(&peer.packet(&[&malformed(0)])).is_empty());
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert!(bench.ask(&peer.packet(&[&malformed(0)])).is_empty());
    assert!(bench.ask(&packet(peer.header(peer.tag), &[&malformed(1)])).is_empty());
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §8.5.1 C: SHUTDOWN COMPLETE ends SHUTDOWN-ACK-SENT, with our tag or with the peer's and the T bit. In any
/// other state it is ignored.
#[test]
fn shutdown_complete_counts_in_shutdown_ack_sent_only() {
    for (ours, tag_reflected, accepted) in
        [(true, false, true), (true, true, false), (false, true, true), (false, false, false)]
    {
        let (mut bench, peer) = Peer::connected(Config::rfc());
        let tag = if ours { peer.node_tag } else { peer.tag };
        let complete = packet(peer.header(tag), &[&ShutdownComplete { tag_reflected }]);
        assert!(bench.ask(&complete).is_empty());
        assert_eq!(bench.closed(), None, "ignored while established");
        let sent = bench.ask(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() }]));
        assert_eq!(sent[0].only(), Chunk::ShutdownAck);
        assert!(bench.ask(&complete).is_empty());
        assert_eq!(bench.closed() == Some(CloseReason::Shutdown), accepted, "{ours} {tag_reflected}");
    }
}

/// RFC 9260 §5.2 note, RFC 5061 §5.3: the right tag from an address that is not the peer's does not let a packet in.
#[test]
fn a_right_tag_from_a_foreign_address_is_not_enough() {
    let (mut bench, peer) = Peer::connected(Config::rfc());
    let mut foreign = peer::route();
    foreign.remote.set_ip(ip("203.0.113.9"));
    let payload = peer.clone();
    let chunks: [&dyn EmitChunk; 5] = [
        &data(payload.tsn, 0, 0, b"x"),
        &Heartbeat { info: b"x" },
        &abort(false),
        &Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() },
        &Raw::chunk(0x7f, 0, b"report me"),
    ];
    for chunk in chunks {
        bench.deliver_on(foreign, &peer.packet(&[chunk]));
    }
    assert!(bench.take().is_empty() && bench.received().is_empty());
    assert_eq!(bench.paths().len(), 1);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §8.5.1 E, §9.2: a SHUTDOWN ACK that meets a handshake is completed like one out of the blue, and the
/// handshake goes on.
#[test]
fn a_shutdown_ack_in_cookie_wait_and_cookie_echoed_is_completed() {
    for (echoed, ours) in [(false, false), (false, true), (true, false), (true, true)] {
        let (mut bench, peer) = Peer::called(Config::rfc());
        let tag = if ours { peer.node_tag } else { TAG };
        let cookie = [Parameter::StateCookie(b"cookie")];
        if echoed {
            bench.deliver(&peer.init_ack(&cookie));
        }
        let explanation = ErrorBuilder { causes: &[Cause::CookieReceivedWhileShuttingDown] };
        let alone: &[&dyn EmitChunk] = &[&ShutdownAck];
        for chunks in [alone, &[&explanation, &ShutdownAck]] {
            let sent = bench.ask(&packet(peer.header(tag), chunks));
            assert_eq!(sent.len(), 1, "{sent:?}");
            assert_eq!(sent[0].tag(), tag);
            assert_eq!(sent[0].only(), Chunk::ShutdownComplete(ShutdownComplete { tag_reflected: true }));
        }
        if !echoed {
            bench.deliver(&peer.init_ack(&cookie));
        }
        bench.deliver(&peer.packet(&[&CookieAck]));
        assert_eq!(bench.ups(), 1);
    }
}

/// RFC 9260 §9.2: SHUTDOWN in COOKIE-WAIT or COOKIE-ECHOED is silently discarded.
#[test]
fn a_shutdown_during_the_handshake_is_discarded() {
    let (mut bench, peer) = Peer::called(Config::rfc());
    let shutdown = Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() };
    assert!(bench.ask(&peer.packet(&[&shutdown])).is_empty());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    assert!(bench.ask(&peer.packet(&[&shutdown])).is_empty());
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!((bench.ups(), bench.closed()), (1, None));
}
