//! What is let in (RFC 4895 §6.3): forged, misplaced, replayed, unsupported.

use core::time::Duration;

use whimbrel_proto::{
    AuthConfig, AuthKeyNews, CloseReason, Command, Config, Event, SharedKeys, SharedSecret,
};
use whimbrel_wire::{
    Abort, AbortBuilder, Cause, Causes, Chunk, EmitChunk, Heartbeat, Shutdown, ShutdownAck, cause_code,
    chunk_type,
};

use crate::auth_peer::{AuthPeer, SHA1, SHA256, requiring, with_key};
use whimbrel_testbed::peer::{Bench, Raw, Sent, assert_alive, cause_codes, quiet, route, with_checksum};

const DATA: [u8; 1] = [chunk_type::DATA];
const HEARTBEAT: Heartbeat<'static> = Heartbeat { info: b"?" };

fn connected(required: &[u8]) -> (Bench, AuthPeer) {
    let mut bench = Bench::new(with_key(required, b"secret"));
    let mut peer = AuthPeer::with_key(&[], b"secret");
    peer.connect(&mut bench);
    (bench, peer)
}

fn answered(sent: &[Sent]) -> bool {
    sent.iter().any(|sent| sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::HeartbeatAck(_))))
}

#[test]
fn authenticated_chunks_are_taken() {
    for hmac_id in [SHA256, SHA1] {
        let (mut bench, mut peer) = connected(&DATA);
        peer.hmac_id = hmac_id;
        let data = [peer.data(0, 0, b"one"), peer.data(0, 1, b"two")];
        bench.deliver(&peer.signed(&[&data[0], &data[1]]));
        assert_eq!(bench.received(), [b"one", b"two"]);
    }
}

/// Dropped without a word, and not counted as received. The rest of the packet is good.
#[test]
fn required_chunks_without_auth_are_dropped_silently() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = peer.data(0, 0, b"forged");
    let sent = bench.ask(&peer.packet(&[&data, &HEARTBEAT]));
    assert!(answered(&sent));
    assert!(!sent[0].chunks().iter().any(|chunk| matches!(chunk, Chunk::Sack(_) | Chunk::Error(_))));
    bench.pass(Duration::from_secs(1));
    assert!(bench.take().is_empty() && bench.received().is_empty());
    bench.deliver(&peer.signed(&[&data]));
    assert_eq!(bench.received(), [b"forged"]);
}

/// Who sees the traffic knows tags and TSNs, and still can neither end the association nor say anything in it.
#[test]
fn where_everything_is_required_nothing_forged_is_heeded() {
    let everything = AuthConfig::offered().requiring_everything().required;
    let (mut bench, mut peer) = connected(&everything);
    let data = peer.data(0, 0, b"forged");
    let shutdown = Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() };
    let abort = AbortBuilder { tag_reflected: false, causes: &[] };
    for forged in [&data as &dyn EmitChunk, &abort, &shutdown, &ShutdownAck, &HEARTBEAT] {
        let sent = bench.ask(&peer.packet(&[forged]));
        assert!(sent.is_empty(), "{sent:?}");
        assert!(bench.received().is_empty() && bench.closed().is_none());
    }
    // The same, signed, is heeded.
    assert!(!bench.ask(&peer.signed(&[&HEARTBEAT])).is_empty());
    bench.deliver(&peer.signed(&[&data]));
    assert_eq!(bench.received(), [b"forged"]);
    bench.deliver(&peer.signed(&[&abort]));
    assert!(bench.closed().is_some());
}

/// RFC 4895 §5.1: what comes before AUTH is not authenticated.
#[test]
fn auth_does_not_cover_what_comes_before_it() {
    let (mut bench, mut peer) = connected(&DATA);
    let (first, second) = (peer.data(0, 0, b"before"), peer.data(0, 1, b"behind"));
    bench.deliver(&peer.signed_behind(&[&first], &[&second]));
    assert!(bench.received().is_empty(), "the second one waits for the first");
    bench.deliver(&peer.signed(&[&first]));
    assert_eq!(bench.received(), [b"before", b"behind"]);
}

/// No bit of AUTH or of what follows can be changed.
#[test]
fn any_forgery_takes_with_it_all_that_follows() {
    let (mut bench, mut peer) = connected(&[chunk_type::DATA, chunk_type::HEARTBEAT]);
    let data = peer.data(0, 0, b"genuine!");
    let genuine = peer.signed(&[&HEARTBEAT, &data]);
    for at in 12..genuine.len() {
        for bit in [0x01, 0x80] {
            let mut forged = genuine.clone();
            forged[at] ^= bit;
            let sent = bench.ask(&with_checksum(forged));
            assert!(!answered(&sent), "byte {at}");
            assert!(bench.received().is_empty(), "byte {at}");
        }
    }
    assert!(answered(&bench.ask(&genuine)));
    assert_eq!(bench.received(), [b"genuine!"]);
    assert_eq!(bench.closed(), None);
}

/// What precedes a forged AUTH chunk is good.
#[test]
fn what_comes_before_a_forgery_counts() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = peer.data(0, 0, b"x");
    let mut bytes = peer.signed_behind(&[&HEARTBEAT], &[&data]);
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    assert!(answered(&bench.ask(&with_checksum(bytes))));
    assert!(bench.received().is_empty());
}

/// RFC 4895 §9: AUTH does not stop replays; sequence numbers do.
#[test]
fn a_replayed_packet_is_a_duplicate() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = peer.data(0, 0, b"once");
    let packet = peer.signed(&[&data]);
    (0..5).for_each(|_| bench.deliver(&packet));
    assert_eq!(bench.received(), [b"once"]);
}

/// RFC 4895 §5.1: not more than once in a packet. The second one and what it covers are dropped.
#[test]
fn a_second_auth_chunk_ends_the_packet() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = [peer.data(0, 0, b"one"), peer.data(0, 1, b"two")];
    let inner = peer.signed(&[&data[1]]);
    let bytes = peer.signed(&[&data[0], &Raw(inner[12..].to_vec())]);
    bench.deliver(&bytes);
    assert_eq!(bench.received(), [b"one"]);
}

/// AUTH without anything to cover, too short or cut off.
#[test]
fn malformed_auth_chunks() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = peer.data(0, 0, b"x");
    assert!(bench.ask(&peer.signed(&[])).is_empty());
    for value in [&[][..], &[0, 7], &[0, 7, 0, 3], &[0, 7, 0, 3, 1], &[0; 200]] {
        let auth = Raw::chunk(chunk_type::AUTH, 0, value);
        assert!(!answered(&bench.ask(&peer.packet(&[&auth, &data, &HEARTBEAT]))), "{value:?}");
    }
    assert!(bench.received().is_empty());
    let peer = peer.peer.clone();
    assert_alive(&mut bench, &peer);
}

/// RFC 4895 §4.1, §6.3: an algorithm we have not asked for is reported, and what it covers is dropped.
#[test]
fn an_unsupported_hmac_is_reported_once_per_packet() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = peer.data(0, 0, b"x");
    for id in [0_u16, 2, 4, 0xffff] {
        let mut value = vec![0, 7];
        value.extend_from_slice(&id.to_be_bytes());
        value.extend_from_slice(&[0; 32]);
        let auth = Raw::chunk(chunk_type::AUTH, 0, &value);
        let chunks: [&dyn EmitChunk; 5] = [&auth, &auth, &auth, &data, &HEARTBEAT];
        let sent = bench.ask(&peer.packet(&chunks));
        assert_eq!(cause_codes(&sent), [cause_code::UNSUPPORTED_HMAC_IDENTIFIER]);
        let Chunk::Error(mut error) = sent[0].only() else { panic!("{sent:?}") };
        assert_eq!(error.causes.next(), Some(Ok(Cause::UnsupportedHmacIdentifier { hmac_id: id })));
    }
    assert!(bench.received().is_empty());
}

/// RFC 4895 §6.3: a key that is not configured; the null key is none where a real one is.
#[test]
fn unknown_keys_are_dropped_and_reported_to_the_user() {
    let (mut bench, mut peer) = connected(&DATA);
    let data = peer.data(0, 0, b"x");
    for (id, secret) in [(0, &b""[..]), (8, b"secret"), (7, b"guess")] {
        let mut forger = peer.clone();
        forger.key = (id, secret.to_vec());
        assert!(bench.ask(&forger.signed(&[&data, &HEARTBEAT])).is_empty());
    }
    assert!(bench.received().is_empty());
    let association = Some(bench.association());
    let unknown = |key| Event::AuthKey { association, key, news: AuthKeyNews::Unknown };
    let news: Vec<_> = bench.events.iter().filter(|event| matches!(event, Event::AuthKey { .. })).collect();
    let in_use = Event::AuthKey { association, key: 7, news: AuthKeyNews::InUse };
    let expected = [unknown(0), unknown(8)];
    assert!(news.iter().copied().filter(|event| **event != in_use).eq(&expected), "{news:?}");
}

/// Whoever has not got the key cannot end the association; whoever has can.
#[test]
fn an_abort_must_be_authenticated_if_that_is_required() {
    let (mut bench, peer) = connected(&[chunk_type::ABORT]);
    let abort = AbortBuilder { tag_reflected: false, causes: &[] };
    bench.deliver(&peer.packet(&[&abort]));
    assert_eq!(bench.closed(), None);
    // An answer to a packet out of the blue, as a peer that has lost its association would send it (RFC 9260 §8.4).
    let reflected = Abort { tag_reflected: true, causes: Causes::from_wire(&[]) };
    let dropped = |bench: &Bench| bench.node.stats(bench.association()).unwrap().packets_dropped;
    let before = dropped(&bench);
    bench.deliver(&whimbrel_testbed::peer::packet(peer.header(peer.tag), &[&reflected]));
    assert_eq!(bench.closed(), None);
    assert_eq!(dropped(&bench), before + 1, "it is counted: the peer may have been started anew");
    bench.deliver(&peer.signed(&[&abort]));
    assert!(matches!(bench.closed(), Some(CloseReason::AbortedByPeer { .. })));
}

/// Before INIT ACK there is no key, so nothing can be genuine.
#[test]
fn a_required_abort_does_not_end_an_attempt() {
    for (required, ends) in [(&[chunk_type::ABORT][..], false), (&[], true)] {
        let mut bench = Bench::new(requiring(required));
        let mut peer = AuthPeer::new(&[]);
        bench.connect(&[whimbrel_testbed::peer::peer_address(1)]);
        peer.learn_init(&bench.take_only());
        bench.deliver(&peer.packet(&[&AbortBuilder { tag_reflected: false, causes: &[] }]));
        assert_eq!(bench.closed().is_some(), ends);
    }
}

/// In COOKIE-ECHOED the key is known.
#[test]
fn cookie_ack_must_be_authenticated_if_that_is_required() {
    let mut bench = Bench::new(requiring(&[chunk_type::COOKIE_ACK, chunk_type::DATA]));
    let mut peer = AuthPeer::new(&[]);
    bench.connect(&[whimbrel_testbed::peer::peer_address(1)]);
    peer.learn_init(&bench.take_only());
    let mut parameters = vec![whimbrel_wire::Parameter::StateCookie(b"a cookie")];
    let own = peer.clone();
    parameters.extend(own.parameters());
    bench.deliver(&peer.init_ack(&parameters));
    bench.deliver(&peer.packet(&[&whimbrel_wire::CookieAck]));
    assert_eq!(bench.ups(), 0);
    let data = peer.data(0, 0, b"behind");
    bench.deliver(&peer.signed(&[&whimbrel_wire::CookieAck, &data]));
    assert_eq!((bench.ups(), bench.received()), (1, vec![b"behind".to_vec()]));
}

/// Without authentication AUTH is an unknown chunk: it and what follows are dropped (RFC 4895 §5.1, RFC 9260 §3.2).
#[test]
fn auth_means_nothing_where_it_is_off() {
    let mut bench = Bench::new(quiet());
    let mut peer = AuthPeer::new(&[]);
    peer.begin(&mut bench);
    bench.deliver(&peer.cookie_echo());
    assert_eq!(bench.ups(), 1);
    assert!(!answered(&bench.ask(&peer.signed(&[&HEARTBEAT]))));
    let sent = bench.ask(&peer.signed_behind(&[&HEARTBEAT], &[&HEARTBEAT]));
    assert!(answered(&sent) && cause_codes(&sent).is_empty());
}

/// RFC 4895 §6.3: out of the blue handling does not look at AUTH.
#[test]
fn out_of_the_blue_auth_does_not_count() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&[]);
    peer.peer.node_tag = 77;
    let sent = bench.ask(&peer.signed(&[&ShutdownAck]));
    assert!(matches!(sent[0].only(), Chunk::ShutdownComplete(complete) if complete.tag_reflected));
    let sent = bench.ask(&peer.signed(&[&HEARTBEAT]));
    assert!(matches!(sent[0].only(), Chunk::Abort(abort) if abort.tag_reflected));
    assert!(bench.ask(&peer.signed(&[&AbortBuilder { tag_reflected: false, causes: &[] }])).is_empty());
}

/// Heartbeats work when they must be authenticated both ways.
#[test]
fn path_supervision_is_authenticated() {
    let mut bench = Bench::new(with_key(&[chunk_type::HEARTBEAT_ACK], b"secret"));
    let mut peer = AuthPeer::with_key(&[chunk_type::HEARTBEAT], b"secret");
    peer.connect(&mut bench);
    let association = bench.association();
    let path = bench.paths()[0].id;
    bench.command(Command::RequestHeartbeat { association, path });
    let sent = bench.take_only();
    assert_eq!(sent.route, route());
    let [Chunk::Auth(_), Chunk::Heartbeat(heartbeat)] = sent.chunks()[..] else { panic!("{sent:?}") };
    let ack = whimbrel_wire::HeartbeatAck { info: heartbeat.info };
    bench.now += Duration::from_millis(40);
    bench.deliver(&peer.packet(&[&ack]));
    assert_eq!(bench.paths()[0].srtt, None, "not authenticated");
    bench.deliver(&peer.signed(&[&ack]));
    assert_eq!(bench.paths()[0].srtt, Some(Duration::from_millis(40)));
}

/// Patience is with who has the key. Whoever sees the traffic knows the tag.
#[test]
fn forged_packets_do_not_keep_a_keyed_association() {
    let mut config = Config::mobile();
    config.auth = AuthConfig::offered().requiring_everything();
    config.auth.keys = SharedKeys::new(7, SharedSecret::new(b"secret"));
    let mut bench = Bench::new(config);
    let mut peer = AuthPeer::with_key(&[], b"secret");
    peer.connect(&mut bench);
    bench.send(0, b"for a peer that has gone");
    for _ in 0..20 {
        bench.pass(Duration::from_secs(3600));
        bench.deliver(&peer.packet(&[&Heartbeat { info: b"forged" }]));
    }
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable), "patience is two hours");
}
