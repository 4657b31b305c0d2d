//! Shutdowns that meet each other, lose packets, or meet a new beginning (RFC 9260 §9.2, §5.2.4 A).

use core::time::Duration;

use whimbrel_proto::{CloseReason, Event, Message, SendError, StreamId};
use whimbrel_wire::{
    AbortBuilder, Chunk, CookieAck, CookieEcho, Heartbeat, Shutdown, ShutdownAck, ShutdownComplete,
    cause_code, chunk_type,
};

use whimbrel_testbed::peer::{self, Bench, Peer, Sent, cause_codes, quiet};

fn shutdown(peer: &Peer) -> Vec<u8> {
    peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() }])
}

const COMPLETE: ShutdownComplete = ShutdownComplete { tag_reflected: false };

#[track_caller]
fn assert_closed(bench: &Bench) {
    assert_eq!(bench.closed(), Some(CloseReason::Shutdown));
    assert_eq!(bench.node.association_count(), 0);
}

/// How many of the packets are (or contain) the chunk, and when they left, in seconds.
fn times(sent: &[Sent], wanted: fn(&Chunk<'_>) -> bool) -> Vec<f64> {
    let has = |sent: &&Sent| sent.chunks().iter().any(wanted);
    sent.iter().filter(has).map(|sent| sent.at.as_secs_f64()).collect()
}

/// RFC 9260 §9.2: both shut down at once: SHUTDOWN meets SHUTDOWN, each answers with SHUTDOWN ACK, and SHUTDOWN ACK meets
/// SHUTDOWN ACK.
#[test]
fn shutdowns_collide() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.shutdown();
    assert!(matches!(bench.take_only().only(), Chunk::Shutdown(_)));
    let sent = bench.ask(&shutdown(&peer));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
    assert_eq!(bench.closed(), None);
    let sent = bench.ask(&peer.packet(&[&ShutdownAck]));
    assert_eq!(sent[0].only(), Chunk::ShutdownComplete(COMPLETE));
    assert_closed(&bench);
}

/// As above, but our SHUTDOWN ACK is answered first.
#[test]
fn shutdowns_collide_and_the_peer_completes() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.shutdown();
    bench.deliver(&shutdown(&peer));
    assert!(bench.ask(&peer.packet(&[&COMPLETE])).is_empty());
    assert_closed(&bench);
}

/// RFC 9260 §9.2: a lost SHUTDOWN is repeated by T2-shutdown, backing off, Association.Max.Retrans times; then the
/// peer counts as unreachable.
#[test]
fn a_lost_shutdown_is_repeated_and_given_up() {
    let mut config = quiet();
    config.failure.association = whimbrel_proto::AssociationFailure::Errors(4);
    config.heartbeat.interval = None;
    let (mut bench, peer) = Peer::connected(config);
    bench.shutdown();
    bench.pass(Duration::from_secs(100));
    let sent = times(&bench.take(), |chunk| matches!(chunk, Chunk::Shutdown(_)));
    assert_eq!(sent, [1.0, 2.0, 4.0, 8.0, 16.0]);
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
    // The peer, which knows nothing, is told when it speaks (§8.4 rule 8).
    let sent = bench.ask(&shutdown(&peer));
    assert!(matches!(sent[0].only(), Chunk::Abort(abort) if abort.tag_reflected));
}

/// RFC 9260 §9.2: the SHUTDOWN gets through at the second try.
#[test]
fn a_repeated_shutdown_is_as_good_as_the_first() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.shutdown();
    bench.pass(Duration::from_millis(1500));
    assert_eq!(bench.take().len(), 2);
    let sent = bench.ask(&peer.packet(&[&ShutdownAck]));
    assert_eq!(sent[0].only(), Chunk::ShutdownComplete(COMPLETE));
    assert_closed(&bench);
}

/// RFC 9260 §9.2: a lost SHUTDOWN ACK is repeated by T2-shutdown, and at once when the SHUTDOWN comes again.
#[test]
fn a_lost_shutdown_ack_is_repeated() {
    let (mut bench, peer) = Peer::connected(quiet());
    let sent = bench.ask(&shutdown(&peer));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
    bench.pass(Duration::from_millis(3500));
    let sent = times(&bench.take(), |chunk| *chunk == Chunk::ShutdownAck);
    assert_eq!(sent, [2.0, 4.0]);
    let sent = bench.ask(&shutdown(&peer));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
    bench.deliver(&peer.packet(&[&COMPLETE]));
    assert_closed(&bench);
}

/// RFC 9260 §9.2, §8.4 rule 5: SHUTDOWN COMPLETE was lost, so SHUTDOWN ACK comes to a host that has forgotten
/// everything; the reflected tag is good enough for the peer.
#[test]
fn a_lost_shutdown_complete_is_made_up_for() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.shutdown();
    bench.deliver(&peer.packet(&[&ShutdownAck]));
    assert_closed(&bench);
    let sent = bench.ask(&peer.packet(&[&ShutdownAck]));
    assert_eq!(sent[0].tag(), peer.node_tag);
    assert_eq!(sent[0].only(), Chunk::ShutdownComplete(ShutdownComplete { tag_reflected: true }));
}

/// RFC 9260 §9.2: in SHUTDOWN-ACK-SENT an INIT of the same peer is discarded, and SHUTDOWN ACK repeated.
#[test]
fn an_init_in_shutdown_ack_sent_repeats_the_shutdown_ack() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.deliver(&shutdown(&peer));
    let again = Peer { tag: 0x7777, ..Peer::new() };
    let sent = bench.ask(&again.init(&[]));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
    assert_eq!(sent[0].tag(), peer.tag);
    // Which the new peer answers as out of the blue.
    let complete = peer::packet(peer.header(peer.tag), &[&ShutdownComplete { tag_reflected: true }]);
    bench.deliver(&complete);
    assert_closed(&bench);
}

/// RFC 9260 §5.2.4 A: a restart recognised in SHUTDOWN-ACK-SENT sets nothing up: SHUTDOWN ACK, and an ERROR "Cookie
/// Received While Shutting Down".
#[test]
fn a_restart_in_shutdown_ack_sent_is_refused() {
    let (mut bench, peer) = Peer::connected(quiet());
    let mut again = Peer { tag: 0x7777, ..Peer::new() };
    again.begin(&mut bench, &[]);
    bench.deliver(&shutdown(&peer));
    let sent = bench.ask(&again.packet(&[&CookieEcho { cookie: &again.cookie.clone() }]));
    assert!(sent.iter().any(|sent| sent.chunks().contains(&Chunk::ShutdownAck)));
    assert_eq!(cause_codes(&sent), [cause_code::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN]);
    assert!(sent.iter().all(|sent| !sent.chunks().contains(&Chunk::CookieAck)));
    assert_eq!((bench.ups(), bench.restarts()), (1, 0));
}

/// RFC 9260 §9.2: in SHUTDOWN-PENDING what is queued is still delivered, and new data refused.
#[test]
fn shutdown_waits_for_data_and_takes_no_more() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.send(0, b"last words");
    bench.take();
    bench.shutdown();
    assert!(bench.take().is_empty(), "no SHUTDOWN before the data is acknowledged");
    let association = bench.association();
    let message = Message::new(StreamId(0), &b"too late"[..]);
    bench.command(whimbrel_proto::Command::Send { association, message });
    assert!(matches!(bench.events.last(), Some(Event::SendRefused { error: SendError::ShuttingDown, .. })));
    let sent = bench.ask(&peer.sack(peer.node_tsn, 1000));
    assert!(matches!(sent[0].only(), Chunk::Shutdown(_)));
}

/// RFC 9260 §9.2: in SHUTDOWN-RECEIVED outstanding data is still sent and acknowledged before SHUTDOWN ACK.
#[test]
fn a_shutdown_of_the_peer_waits_for_our_data() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.send(0, b"wait");
    bench.take();
    assert!(bench.ask(&shutdown(&peer)).is_empty());
    assert!(matches!(bench.events.last(), Some(Event::PeerShutdown { .. })));
    let late = peer.data(0, 0, b"RFC 9260 section 6: discarded in this state");
    assert!(bench.ask(&peer.packet(&[&late])).is_empty() && bench.received().is_empty());
    bench.pass(Duration::from_millis(1100));
    assert_eq!(bench.take_only().data().len(), 1, "retransmitted");
    let sent = bench.ask(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn }]));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
}

/// RFC 9260 §9.2: in SHUTDOWN-SENT each packet with DATA is answered with SHUTDOWN at once; gaps and duplicates with a
/// SACK as well.
#[test]
fn data_in_shutdown_sent_is_answered_with_shutdown() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.shutdown();
    let first = peer.data(0, 0, b"a");
    let second = peer.data(0, 1, b"b");
    let sent = bench.ask(&peer.packet(&[&second]));
    let kinds = |sent: &[Sent]| {
        let chunks: Vec<u8> = sent.iter().flat_map(Sent::chunks).map(|chunk| chunk.chunk_type()).collect();
        chunks
    };
    assert_eq!(kinds(&sent), [3, 7], "a gap");
    let sent = bench.ask(&peer.packet(&[&first]));
    assert!(kinds(&sent).contains(&7));
    let cumulative = sent.iter().flat_map(Sent::chunks).find_map(|chunk| match chunk {
        Chunk::Shutdown(shutdown) => Some(shutdown.cumulative_tsn_ack),
        _ => None,
    });
    assert_eq!(cumulative, Some(second.tsn));
    assert_eq!(kinds(&bench.ask(&peer.packet(&[&first]))), [3, 7], "a duplicate");
    assert_eq!(bench.received(), [b"a", b"b"]);
}

/// When the node aborts a shutdown, in seconds, if `packet` comes from the peer every 20 seconds.
fn aborted_at(bench: &mut Bench, mut packet: impl FnMut() -> Vec<u8>) -> f64 {
    bench.shutdown();
    for _ in 0..400 {
        if bench.closed().is_some() {
            break;
        }
        bench.deliver(&packet());
        bench.pass(Duration::from_secs(20));
    }
    assert!(bench.closed().is_some());
    times(&bench.take(), |chunk| matches!(chunk, Chunk::Abort(_)))[0]
}

/// RFC 9260 §9.2: T5-shutdown-guard ends a shutdown in which the peer makes no progress, with an ABORT.
#[test]
fn a_shutdown_that_gets_nowhere_is_aborted() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let chunk = peer.data(0, 0, b"as I said");
    let same = peer.packet(&[&chunk]);
    assert_eq!(aborted_at(&mut bench, || same.clone()), 301.0, "five times RTO.Max after the DATA was new");
}

/// RFC 9260 §9.2: T5-shutdown-guard begins with SHUTDOWN. Packets that hold no data show that the peer is there, and no more.
#[test]
fn a_shutdown_that_is_never_answered_is_aborted() {
    let (mut bench, peer) = Peer::connected(quiet());
    let nothing = peer.packet(&[&CookieAck]);
    assert_eq!(aborted_at(&mut bench, || nothing.clone()), 301.0, "five times RTO.Max after SHUTDOWN");
}

/// A peer that repeats its SHUTDOWN and never takes the answer does not keep the association: T2-shutdown goes on.
#[test]
fn a_shutdown_that_is_repeated_for_ever_is_given_up() {
    let (mut bench, peer) = Peer::connected(quiet());
    for _ in 0..1000 {
        bench.deliver(&shutdown(&peer));
        bench.pass(Duration::from_millis(500));
    }
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
}

/// RFC 9260 §8.3: HEARTBEAT is answered until SHUTDOWN ACK goes out, and none of our own after SHUTDOWN, though the address is yet
/// to be confirmed.
#[test]
fn a_heartbeat_after_shutdown_brings_no_other() {
    for (acknowledged, expected) in [(false, &[chunk_type::HEARTBEAT_ACK][..]), (true, &[])] {
        let mut bench = Bench::new(quiet());
        let mut peer = Peer::new();
        let mut claimed = peer::route();
        claimed.remote.set_ip(peer::ip("198.51.100.7"));
        peer.connect_with(&mut bench, &[claimed.remote.ip()]);
        if acknowledged {
            bench.deliver(&shutdown(&peer))
        } else {
            bench.shutdown()
        }
        bench.take();
        bench.deliver_on(claimed, &peer.packet(&[&Heartbeat { info: b"x" }]));
        let sent = bench.take();
        let types: Vec<u8> = sent.iter().flat_map(Sent::chunks).map(|chunk| chunk.chunk_type()).collect();
        assert_eq!(types, expected);
    }
}

/// RFC 9260 §9.2: one that the peer drags out for ever by sending DATA is aborted as well, only later.
#[test]
fn a_shutdown_that_is_dragged_out_is_aborted() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let mut n = 0;
    let more = || {
        n += 1;
        let chunk = peer.data(0, n - 1, b"and another thing");
        peer.packet(&[&chunk])
    };
    assert_eq!(aborted_at(&mut bench, more), 6001.0, "twenty times T5-shutdown-guard after SHUTDOWN");
}

/// RFC 9260 §9.2: the peer is to have ample opportunity to send what it has queued, however long that takes on a slow
/// path.
#[test]
fn a_peer_that_empties_its_queue_is_waited_for() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.shutdown();
    for n in 0..6 {
        let chunk = peer.data(0, n, b"from the queue");
        bench.deliver(&peer.packet(&[&chunk]));
        bench.pass(Duration::from_secs(200));
    }
    assert_eq!(bench.received().len(), 6);
    bench.deliver(&peer.packet(&[&ShutdownAck]));
    assert_closed(&bench);
}

/// RFC 9260 §9.2: a SHUTDOWN ACK that nobody asked for ends nothing.
#[test]
fn an_unexpected_shutdown_ack_is_ignored() {
    let (mut bench, peer) = Peer::connected(quiet());
    assert!(bench.ask(&peer.packet(&[&ShutdownAck])).is_empty());
    peer::assert_alive(&mut bench, &peer);
}

/// RFC 9260 §10 ICMP8 while SHUTDOWN COMPLETE is awaited: the peer has closed its port because it was done, and only its
/// last packet was lost. That is a graceful end.
#[test]
fn a_peer_that_is_gone_after_its_shutdown_has_closed_gracefully() {
    let (mut bench, peer) = Peer::connected(quiet());
    let sent = bench.ask(&shutdown(&peer));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
    bench.unreachable(peer::route(), whimbrel_machine::Unreachable::Protocol, &sent[0].bytes);
    assert_closed(&bench);
}

/// The same when the peer says that it knows of no association (RFC 9260 §8.4 rule 8, §8.5.1 B): its SHUTDOWN COMPLETE was overtaken.
#[test]
fn a_peer_that_knows_nothing_any_more_after_its_shutdown_has_closed_gracefully() {
    let (mut bench, peer) = Peer::connected(quiet());
    assert_eq!(bench.ask(&shutdown(&peer))[0].only(), Chunk::ShutdownAck);
    let abort = AbortBuilder { tag_reflected: true, causes: &[] };
    assert!(bench.ask(&peer::packet(peer.header(peer.tag), &[&abort])).is_empty());
    assert_closed(&bench);
}

/// RFC 9260 §6: in SHUTDOWN-SENT a SACK is discarded, whatever it claims. Everything is acknowledged already.
#[test]
fn a_sack_in_shutdown_sent_is_discarded() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.shutdown();
    assert!(bench.ask(&peer.sack(peer.node_tsn.plus(5), 1000)).is_empty());
    assert_eq!(bench.closed(), None);
}

/// RFC 9260 §8.3: HEARTBEATs end with SHUTDOWN, those that search for the path MTU as well.
#[test]
fn no_path_mtu_probe_follows_a_shutdown() {
    let (mut bench, peer) = Peer::connected(whimbrel_proto::Config::rfc());
    bench.send(0, b"the search begins with data");
    let probes = |sent: &[Sent]| times(sent, |chunk| matches!(chunk, Chunk::Heartbeat(_))).len();
    bench.pass(Duration::from_millis(10));
    assert_eq!(probes(&bench.take()), 1);
    bench.deliver(&peer.sack(peer.node_tsn, 1000));
    bench.shutdown();
    bench.pass(Duration::from_secs(50));
    let sent = bench.take();
    assert!(times(&sent, |chunk| matches!(chunk, Chunk::Shutdown(_))).len() > 3);
    assert_eq!(probes(&sent), 0);
}

/// A SHUTDOWN ACK says that all the peer had has been acknowledged. One that comes while something is missing is somebody else's, who
/// would have us lose it.
#[test]
fn a_shutdown_ack_before_the_end_of_a_message_is_ignored() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.shutdown();
    bench.take();
    let first = whimbrel_wire::Data { ending: false, ..peer.data(0, 0, b"one ") };
    bench.deliver(&peer.packet(&[&first]));
    bench.deliver(&peer.packet(&[&ShutdownAck]));
    assert_eq!(bench.closed(), None, "a message has no end");
    let missing = whimbrel_wire::Data { beginning: false, ending: false, ..peer.data(0, 0, b"two ") };
    let last = whimbrel_wire::Data { beginning: false, ..peer.data(0, 0, b"three") };
    bench.deliver(&peer.packet(&[&last]));
    bench.deliver(&peer.packet(&[&ShutdownAck]));
    assert_eq!(bench.closed(), None, "a TSN is missing");
    bench.deliver(&peer.packet(&[&missing]));
    assert_eq!(bench.received(), [b"one two three".to_vec()]);
    bench.deliver(&peer.packet(&[&ShutdownAck]));
    assert_eq!(bench.closed(), Some(CloseReason::Shutdown));
}

/// The same goes for SHUTDOWN, and for SHUTDOWN COMPLETE.
#[test]
fn a_shutdown_before_the_end_of_a_message_is_ignored() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let first = whimbrel_wire::Data { ending: false, ..peer.data(0, 0, b"one ") };
    let last = whimbrel_wire::Data { beginning: false, ..peer.data(0, 0, b"two") };
    bench.deliver(&peer.packet(&[&first]));
    assert!(bench.ask(&shutdown(&peer)).iter().all(|sent| sent.only() != Chunk::ShutdownAck));
    bench.deliver(&peer.packet(&[&last]));
    assert_eq!(bench.received(), [b"one two".to_vec()]);
    assert!(bench.ask(&shutdown(&peer)).iter().any(|sent| sent.only() == Chunk::ShutdownAck));
    bench.deliver(&peer.packet(&[&COMPLETE]));
    assert_closed(&bench);
}
