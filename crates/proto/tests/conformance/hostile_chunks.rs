//! Chunks that no honest peer sends to an open association: SACKs that lie, DATA that never ends, heaps of small things
//! (RFC 9260 §3.2, §6; RFC 5062 §5, §8).

use core::time::Duration;

use whimbrel_proto::{CloseReason, Command, Event};
use whimbrel_wire::{Cause, Chunk, Data, EmitChunk, ErrorBuilder, Heartbeat, Shutdown, Ssn, Tsn, cause_code};

use whimbrel_testbed::peer::{Bench, Peer, Raw, Sent, assert_alive, cause_codes, data, quiet};

/// Cumulative TSN Ack, a_rwnd and gap ack blocks.
type SackSent = (Tsn, u32, Vec<(u16, u16)>);

fn last_sack(sent: &[Sent]) -> Option<SackSent> {
    sent.iter().rev().flat_map(Sent::chunks).find_map(|chunk| match chunk {
        Chunk::Sack(sack) => {
            let blocks = sack.gap_ack_blocks().map(|block| (block.start, block.end)).collect();
            Some((sack.cumulative_tsn_ack, sack.a_rwnd, blocks))
        }
        _ => None,
    })
}

// ---- acknowledgements

/// RFC 5062 §5: a receiver that acknowledges what was never sent wants us to send faster; it is aborted.
#[test]
fn a_sack_of_data_never_sent_is_aborted() {
    for (cumulative, blocks) in [(5_u32, &[][..]), (1, &[]), (u32::MAX, &[(2, 9)]), (0, &[(2, 2)])] {
        let (mut bench, peer) = Peer::connected(quiet());
        bench.send(0, b"one message");
        bench.take();
        let sent = bench.ask(&peer.sack_with(peer.node_tsn.plus(cumulative), 1000, blocks));
        assert_eq!(cause_codes(&sent), [cause_code::PROTOCOL_VIOLATION], "{cumulative} {blocks:?}");
        assert!(matches!(bench.closed(), Some(CloseReason::ProtocolViolation(_))));
    }
}

/// RFC 5062 §5: that of a SHUTDOWN is believed no more. Peers fill it in wrongly, so that it ends nothing: SHUTDOWN ACK waits for a SACK.
#[test]
fn a_shutdown_that_acknowledges_data_never_sent_is_not_believed() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.send(0, b"one message");
    bench.take();
    let sent = bench.ask(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.plus(3) }]));
    assert!(sent.is_empty() && bench.closed().is_none(), "{sent:?}");
    let sent = bench.ask(&peer.sack_with(peer.node_tsn, 1000, &[]));
    assert_eq!(sent[0].only(), Chunk::ShutdownAck);
}

/// A peer may leave the field empty, or fill in a TSN of its own; where all is acknowledged nothing depends on it.
#[test]
fn a_shutdown_with_any_tsn_is_answered_once_everything_is_acknowledged() {
    for wrong in [3, 1 << 31, u32::MAX - 5] {
        let (mut bench, peer) = Peer::connected(quiet());
        let sent = bench.ask(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.plus(wrong) }]));
        assert!(matches!(sent[0].only(), Chunk::ShutdownAck), "{wrong}");
    }
}

/// RFC 9260 §6.2.1 D i: an old SACK is discarded whole: neither its window nor its gaps count.
#[test]
fn an_old_sack_changes_nothing() {
    let (mut bench, peer) = Peer::connected(quiet());
    bench.send(0, b"one");
    bench.send(0, b"two");
    bench.deliver(&peer.sack(peer.node_tsn.next(), 50_000));
    assert_eq!(bench.paths()[0].flight_size, 0);
    bench.deliver(&peer.sack_with(peer.node_tsn, 0, &[(2, 2)]));
    bench.deliver(&peer.sack(peer.node_tsn.plus((1 << 31) + 2), 0));
    bench.take();
    bench.send(0, b"three");
    assert_eq!(bench.take_only().data().len(), 1, "the window is still open");
}

/// RFC 9260 §3.3.4: reversed, overlapping, descending and zero blocks carry no information; they neither acknowledge nor
/// harm.
#[test]
fn nonsensical_gap_blocks_are_ignored() {
    for blocks in [
        &[(3_u16, 2_u16)][..],
        &[(0, 0)],
        &[(0, 3)],
        &[(1, 3)],
        &[(3, 3), (2, 3)],
        &[(2, 3), (2, 3)],
        &[(2, 4), (3, 4)],
        &[(4, 4), (2, 2), (3, 3)],
    ] {
        let (mut bench, peer) = Peer::connected(quiet());
        for _ in 0..4 {
            bench.send(0, &[7; 1000]);
        }
        bench.take();
        bench.deliver(&peer.sack_with(peer.node_tsn.prev(), 50_000, blocks));
        assert_eq!(bench.closed(), None, "{blocks:?}");
        // Everything can still be acknowledged, once.
        bench.deliver(&peer.sack(peer.node_tsn.plus(3), 50_000));
        assert_eq!(bench.paths()[0].flight_size, 0, "{blocks:?}");
        let acked: usize = bench
            .events
            .iter()
            .map(|event| if let Event::Sent { bytes, .. } = event { *bytes } else { 0 })
            .sum();
        assert_eq!(acked, 4000);
    }
}

/// A packet full of SACKs with thousands of blocks is work bounded by its bytes.
#[test]
fn a_sack_with_thousands_of_blocks_is_harmless() {
    let (mut bench, peer) = Peer::connected(quiet());
    for _ in 0..3 {
        bench.send(0, &[7; 1000]);
    }
    let blocks: Vec<(u16, u16)> = (0..16_000).map(|_| (2, 2)).collect();
    for _ in 0..20 {
        bench.deliver(&peer.sack_with(peer.node_tsn.prev(), 50_000, &blocks));
    }
    bench.deliver(&peer.sack(peer.node_tsn.plus(2), 50_000));
    assert_eq!(bench.paths()[0].flight_size, 0);
}

// ---- sequence numbers

/// RFC 9260 §1.6: TSNs wrap; with an initial TSN just below 2³² nothing is special.
#[test]
fn the_peers_tsns_wrap_around() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::with_initial_tsn(u32::MAX - 2);
    peer.connect(&mut bench);
    let chunks: Vec<(u16, String)> = (0..10).map(|n| (n, format!("message {n}"))).collect();
    let chunks: Vec<Data<'_>> = chunks.iter().map(|(n, text)| peer.data(0, *n, text.as_bytes())).collect();
    // Odd ones first: gaps across the wrap.
    for (n, chunk) in chunks.iter().enumerate().filter(|(n, _)| n % 2 == 1) {
        let sent = bench.ask(&peer.packet(&[chunk]));
        let (cumulative, _, blocks) = last_sack(&sent).unwrap();
        assert_eq!(cumulative, Tsn(u32::MAX - 3));
        assert_eq!(blocks.len(), n / 2 + 1);
    }
    for chunk in chunks.iter().step_by(2) {
        bench.deliver(&peer.packet(&[chunk]));
    }
    let (cumulative, _, blocks) = last_sack(&bench.take()).unwrap();
    assert_eq!((cumulative, blocks.len()), (Tsn(6), 0));
    assert_eq!(bench.received().len(), 10);
    assert_eq!(bench.received()[9], b"message 9");
}

/// RFC 9260 §6.5: SSNs wrap after 65,536 messages; 70,000 messages on one stream arrive in order, both ways.
#[test]
fn stream_sequence_numbers_wrap_around() {
    const MESSAGES: u32 = 70_000;
    let (mut bench, mut peer) = Peer::connected(quiet());
    bench.take();
    for n in 0..MESSAGES {
        let payload = n.to_be_bytes();
        let chunk = peer.data(3, n as u16, &payload);
        bench.deliver(&peer.packet(&[&chunk]));
        let association = bench.association();
        bench.command(Command::Release { association, bytes: 4 });
        bench.take();
        // And back: the SSN it uses must be its count modulo 2¹⁶.
        bench.send(2, &payload);
        let sent = bench.take_only();
        let [chunk] = sent.data()[..] else { panic!("{sent:?}") };
        assert_eq!((chunk.ssn, chunk.payload), (Ssn(n as u16), &payload[..]));
        bench.deliver(&peer.sack(chunk.tsn, 50_000));
        bench.take();
    }
    let received = bench.received();
    assert_eq!(received.len(), MESSAGES as usize);
    assert!(received.iter().zip(0_u32..).all(|(payload, n)| *payload == n.to_be_bytes()));
}

// ---- memory

/// A reassembly bomb: beginnings without end, one byte each, on every stream. What is held stays within the receive
/// buffer, and the window closes (RFC 9260 §6.2).
#[test]
fn fragments_that_never_end_are_held_within_the_buffer() {
    let config = quiet();
    let buffer = config.limits.receive_buffer;
    let mut bench = Bench::new(config);
    let mut peer = Peer { streams: u16::MAX, ..Peer::new() };
    peer.connect(&mut bench);
    // A gap first, so that nothing can be delivered.
    peer.tsn = peer.tsn.next();
    let mut held = 0;
    for n in 0..60_000_u32 {
        let chunk = Data { ending: false, ..peer.data((n % 60_000) as u16, 0, b"x") };
        // Beginnings in a row contradict each other; a gap between makes each plausible.
        peer.tsn = peer.tsn.next();
        bench.deliver(&peer.packet(&[&chunk]));
        let Some(stats) = bench.node.stats(bench.association()) else { break };
        held = held.max(stats.receive_queued);
        bench.take();
    }
    assert!(held <= buffer);
    // Bookkeeping is charged at 64 bytes each: so many one-byte fragments and no more.
    assert!(held <= buffer / 64, "{held} one-byte fragments held");
    let debug = format!("{:?}", bench.node).len();
    assert!(debug < 16 << 20, "the node keeps {debug} characters of state");
}

/// The same with large fragments: payload is bounded by the buffer, and the peer is told a closed window.
#[test]
fn large_fragments_that_never_end_close_the_window() {
    let mut config = quiet();
    config.limits.receive_buffer = 64 * 1024;
    let (mut bench, mut peer) = Peer::connected(config);
    peer.tsn = peer.tsn.next();
    let payload = [1; 1400];
    let mut window = u32::MAX;
    for n in 0..500_u16 {
        let chunk = Data { ending: false, beginning: n == 0, ..peer.data(0, 0, &payload) };
        let sent = bench.ask(&peer.packet(&[&chunk]));
        window = last_sack(&sent).map_or(window, |(_, window, _)| window);
        let stats = bench.node.stats(bench.association()).unwrap();
        assert!(stats.receive_queued <= 64 * 1024, "{}", stats.receive_queued);
    }
    assert!(window < 1400, "{window}");
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §6.9: partial delivery keeps a message that never ends from filling the buffer, as long as the user reads.
#[test]
fn an_endless_message_is_handed_over_in_parts() {
    let mut config = quiet();
    config.limits.receive_buffer = 32 * 1024;
    let (mut bench, mut peer) = Peer::connected(config);
    let payload = [2; 1400];
    let (mut delivered, mut seen) = (0, 0);
    for n in 0..1000_u16 {
        let chunk = Data { beginning: n == 0, ending: false, ..peer.data(0, 0, &payload) };
        bench.deliver(&peer.packet(&[&chunk]));
        let new: usize = bench.received()[seen..].iter().map(Vec::len).sum();
        seen = bench.received().len();
        delivered += new;
        let association = bench.association();
        bench.command(Command::Release { association, bytes: new });
        assert!(bench.node.stats(association).unwrap().receive_queued <= 32 * 1024);
    }
    assert!(delivered > 1000 * 1400 - 32 * 1024, "{delivered}");
}

/// A peer that ignores the closed window of a user who never reads (RFC 9260 §6.2): what does not fit is dropped,
/// not acknowledged, and answered with a SACK.
#[test]
fn a_sender_that_ignores_the_window_fills_nothing_but_the_buffer() {
    let mut config = quiet();
    config.limits.receive_buffer = 16 * 1024;
    let (mut bench, mut peer) = Peer::connected(config);
    let payload = [3; 1000];
    for n in 0..200_u16 {
        let chunk = peer.data(0, n, &payload);
        let sent = bench.ask(&peer.packet(&[&chunk]));
        if n > 20 {
            let (cumulative, a_rwnd, _) = last_sack(&sent).expect("a dropped chunk is answered at once");
            assert!(cumulative.precedes(chunk.tsn) && a_rwnd < 1000);
        }
    }
    assert_eq!(bench.received().len(), 16);
    assert_eq!(bench.node.stats(bench.association()).unwrap().receive_queued, 16_000);
}

// ---- heaps of small things

/// RFC 5062 §8, §10: a packet of a thousand HEARTBEATs is answered with no more than one packet.
#[test]
fn a_thousand_heartbeats_give_at_most_one_packet() {
    let (mut bench, peer) = Peer::connected(quiet());
    let heartbeat = Heartbeat { info: b"12345678" };
    let chunks: Vec<&dyn EmitChunk> = vec![&heartbeat; 1000];
    let sent = bench.ask(&peer.packet(&chunks));
    // One answer tells the peer all it can want to know; the limit of a packet would allow about ninety.
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].chunks().len(), 1);
}

/// RFC 9260 §3.2: a thousand chunks that want to be reported fit one answer, or are not reported.
#[test]
fn a_thousand_unknown_chunks_give_at_most_one_packet() {
    let (mut bench, peer) = Peer::connected(quiet());
    let raw = Raw::chunk(0xc7, 0, b"");
    let chunks: Vec<&dyn EmitChunk> = vec![&raw; 16_000];
    let question = peer.packet(&chunks);
    let sent = bench.ask(&question);
    assert!(sent.len() <= 1 && sent.iter().all(|sent| sent.bytes.len() <= 1200), "{}", sent.len());
    assert_alive(&mut bench, &peer);
}

/// A thousand one-byte DATA chunks in a packet are a thousand messages and one SACK (RFC 9260 §6.2).
#[test]
fn a_thousand_tiny_data_chunks_are_acknowledged_once() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let chunks: Vec<Data<'_>> = (0..1000).map(|n| peer.data(0, n, b"x")).collect();
    let chunks: Vec<&dyn EmitChunk> = chunks.iter().map(|chunk| chunk as _).collect();
    let sent = bench.ask(&peer.packet(&chunks));
    assert_eq!(sent.len(), 1);
    assert_eq!(last_sack(&sent).unwrap().0, Tsn(1999));
    assert_eq!(bench.received().len(), 1000);
}

/// Thousands of invalid streams, duplicates and errors in one packet: one packet of answers, and not thousands of
/// events.
#[test]
fn a_packet_of_errors_makes_neither_packets_nor_events_in_heaps() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let chunks: Vec<Data<'_>> = (0..2000).map(|n| peer.data(60_000, n, b"x")).collect();
    let chunks: Vec<&dyn EmitChunk> = chunks.iter().map(|chunk| chunk as _).collect();
    let sent = bench.ask(&peer.packet(&chunks));
    assert!(sent.len() <= 2, "{}", sent.len());
    let error = ErrorBuilder { causes: &[Cause::OutOfResource] };
    let chunks: Vec<&dyn EmitChunk> = vec![&error; 5000];
    let events = bench.events.len();
    assert!(bench.ask(&peer.packet(&chunks)).is_empty());
    assert!(bench.events.len() - events <= 16, "{} events", bench.events.len() - events);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §6.2, §6.7: thousands of duplicates are one SACK, whose list of them is short.
#[test]
fn duplicates_are_reported_within_bounds() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let chunk = peer.data(0, 0, b"x");
    let chunks: Vec<&dyn EmitChunk> = vec![&chunk; 3000];
    let sent = bench.ask(&peer.packet(&chunks));
    assert_eq!(sent.len(), 1);
    assert!(sent[0].bytes.len() <= 128, "{}", sent[0].bytes.len());
    assert_eq!(bench.received().len(), 1);
}

// ---- unknown and broken chunks

/// RFC 9260 §3.2, §3.3.10.6: the two high bits of an unknown chunk say whether the rest of the packet is processed and whether it
/// is reported.
#[test]
fn unknown_chunks_are_treated_as_their_high_bits_say() {
    for (chunk_type, goes_on, reports) in
        [(0x3e_u8, false, false), (0x7e, false, true), (0xbe, true, false), (0xfe, true, true)]
    {
        let (mut bench, mut peer) = Peer::connected(quiet());
        let behind = peer.data(0, 0, b"behind");
        let sent = bench.ask(&peer.packet(&[&Raw::chunk(chunk_type, 5, b"strange"), &behind]));
        let expected: &[u16] = if reports { &[cause_code::UNRECOGNIZED_CHUNK_TYPE] } else { &[] };
        assert_eq!(cause_codes(&sent), expected, "{chunk_type:#x}");
        assert_eq!(bench.received().len(), usize::from(goes_on), "{chunk_type:#x}");
        if reports {
            let quoted = sent.iter().flat_map(Sent::chunks).find_map(|chunk| match chunk {
                Chunk::Error(error) => match { error.causes }.next() {
                    Some(Ok(Cause::UnrecognizedChunkType(bytes))) => Some(bytes.to_vec()),
                    _ => None,
                },
                _ => None,
            });
            let mut whole = vec![chunk_type, 5, 0, 11];
            whole.extend_from_slice(b"strange");
            assert_eq!(quoted.unwrap()[..11], whole);
        }
    }
}

/// RFC 9260 §3.3.10.9, §6.2: DATA without user data ends in an ABORT that names its TSN.
#[test]
fn data_without_user_data_is_aborted() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let empty = peer.data(0, 0, b"");
    let sent = bench.ask(&peer.packet(&[&empty]));
    let Chunk::Abort(abort) = sent[0].only() else { panic!("{sent:?}") };
    assert_eq!({ abort.causes }.next(), Some(Ok(Cause::NoUserData { tsn: empty.tsn })));
    assert!(bench.closed().is_some());
}

/// RFC 9260 §6.5: DATA on a stream that does not exist is acknowledged, reported and not delivered.
#[test]
fn data_on_an_invalid_stream_is_acknowledged_and_reported() {
    let (mut bench, mut peer) = Peer::connected(quiet());
    let invalid = peer.data(10, 0, b"x");
    let sent = bench.ask(&peer.packet(&[&invalid]));
    assert_eq!(cause_codes(&sent), [cause_code::INVALID_STREAM_IDENTIFIER]);
    assert_eq!(last_sack(&sent).unwrap().0, invalid.tsn);
    assert!(bench.received().is_empty());
    let valid = peer.data(9, 0, b"y");
    bench.deliver(&peer.packet(&[&valid]));
    assert_eq!(bench.received(), [b"y"]);
}

/// Chunks whose length leads out of the packet or is too short end the packet; what came before counts.
#[test]
fn a_chunk_with_an_impossible_length_ends_the_packet() {
    for bad in [[0_u8, 3, 0, 0], [0, 3, 0, 3], [0, 3, 0xff, 0xff]] {
        let (mut bench, mut peer) = Peer::connected(quiet());
        let before = peer.data(0, 0, b"before");
        let behind = peer.data(0, 1, b"behind");
        bench.deliver(&peer.packet(&[&before, &Raw(bad.to_vec()), &behind]));
        assert_eq!(bench.received(), [b"before"]);
        assert_alive(&mut bench, &peer);
    }
}

/// Every known chunk type, cut to every length and with every flag, does no harm beyond an ABORT.
#[test]
fn truncated_chunks_of_every_type_are_survived() {
    for chunk_type in 0..=255_u8 {
        for length in 0..24 {
            let (mut bench, peer) = Peer::connected(quiet());
            let value: Vec<u8> = (0..length).map(|n| n as u8 ^ 0x5a).collect();
            bench.deliver(&peer.packet(&[&Raw::chunk(chunk_type, 0xff, &value)]));
            assert!(bench.take().len() <= 4);
            bench.pass(Duration::from_secs(1));
        }
    }
}

/// RFC 9260 §6.9: DATA that contradicts itself (a message begun within another, a stream sequence number that
/// repeats) ends in an ABORT with Protocol Violation.
#[test]
fn data_that_contradicts_itself_is_aborted() {
    type Twist = fn(&mut Peer) -> [Data<'static>; 2];
    let twists: [Twist; 3] = [
        |peer| [Data { ending: false, ..peer.data(0, 0, b"a") }, peer.data(0, 0, b"b")],
        |peer| [peer.data(0, 0, b"a"), peer.data(0, 0, b"b")],
        |peer| [peer.data(0, 0, b"a"), Data { beginning: false, ..peer.data(0, 1, b"b") }],
    ];
    for twist in twists {
        let (mut bench, mut peer) = Peer::connected(quiet());
        let [first, second] = twist(&mut peer);
        let sent = bench.ask(&peer.packet(&[&first, &second]));
        assert_eq!(cause_codes(&sent), [cause_code::PROTOCOL_VIOLATION]);
        assert!(matches!(bench.closed(), Some(CloseReason::ProtocolViolation(_))));
    }
}

/// RFC 9260 §6.2: TSNs further ahead than can be acknowledged are not taken.
#[test]
fn data_far_beyond_the_window_is_dropped() {
    let (mut bench, peer) = Peer::connected(quiet());
    for ahead in [70_000, 1 << 30, (1 << 31) - 2] {
        let sent = bench.ask(&peer.packet(&[&data(peer.tsn.plus(ahead), 0, 0, b"x")]));
        let (cumulative, _, blocks) = last_sack(&sent).expect("answered at once");
        assert_eq!((cumulative, blocks.len()), (peer.tsn.prev(), 0), "{ahead}");
    }
    assert!(bench.received().is_empty());
}
