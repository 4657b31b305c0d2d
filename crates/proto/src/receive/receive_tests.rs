use core::time::Duration;

use whimbrel_wire::{GapAckBlock, PayloadProtocolId, Ssn, StreamId};

use super::sacks::BRIEF_BLOCKS;
use super::*;
use crate::config::{Config, OutOfOrder};
use crate::interface::Part;
use crate::path::testing::route;

const BUFFER: usize = 10_000;
const NOW: Instant = Instant::ZERO;

fn receive(buffer: usize) -> Receive {
    with_limits(&LimitConfig { receive_buffer: buffer, ..Config::rfc().limits })
}

fn with_limits(limits: &LimitConfig) -> Receive {
    Receive::new(
        Tsn(1),
        4,
        limits,
        Buffers::default(),
        &SackConfig { delay: Duration::from_millis(20), ..Config::rfc().sack },
        route(1),
    )
}

/// A whole unordered message on stream 0.
fn message(tsn: u32, payload: &[u8]) -> Data<'_> {
    Data {
        immediate: false,
        unordered: true,
        beginning: true,
        ending: true,
        tsn: Tsn(tsn),
        stream: StreamId(0),
        ssn: Ssn(0),
        ppid: PayloadProtocolId(0),
        payload,
    }
}

/// A fragment in the middle of an unordered message: held beyond a gap.
fn fragment(tsn: u32, payload: &[u8]) -> Data<'_> {
    Data { beginning: false, ending: false, ..message(tsn, payload) }
}

fn drain(receive: &mut Receive) -> usize {
    let bytes = core::iter::from_fn(|| receive.pop()).map(|received| received.payload.len()).sum();
    receive.release(NOW, bytes, || None);
    bytes
}

/// RFC 9260 §6.2: with a_rwnd 0, drop what is new, answer at once, do not acknowledge it.
#[test]
fn a_closed_window_drops_and_answers() {
    let mut receive = receive(BUFFER);
    let mut tsn = 1;
    while receive.a_rwnd() > 0 {
        assert_eq!(receive.on_data(&message(tsn, &[0; 1000])), DataOutcome::New);
        tsn += 1;
    }
    assert_eq!((tsn, receive.buffered()), (11, BUFFER));
    receive.packet_done(NOW);
    receive.write_sack(100);
    assert_eq!(receive.on_data(&message(tsn, &[0; 1])), DataOutcome::NoRoom);
    receive.packet_done(NOW);
    assert!(receive.ack_due(NOW));
    let sack = receive.write_sack(100);
    assert_eq!((sack.cumulative_tsn_ack, sack.a_rwnd), (Tsn(10), 0));
    assert!(sack.gap_ack_blocks.is_empty());
    // Popping alone does not open it; releasing does, and says so.
    while receive.pop().is_some() {}
    assert_eq!((receive.a_rwnd(), receive.ack_due(NOW)), (0, false));
    receive.release(NOW, BUFFER, || None);
    assert_eq!((receive.a_rwnd() as usize, receive.ack_due(NOW)), (BUFFER, true));
    assert_eq!(receive.on_data(&message(tsn, &[0; 1])), DataOutcome::New);
}

/// RFC 9260 §6.2: what fills a gap displaces the largest TSNs, which are no longer acknowledged.
#[test]
fn a_gap_is_filled_at_the_cost_of_the_highest() {
    let mut receive = receive(BUFFER);
    for tsn in 3..=12 {
        assert_eq!(receive.on_data(&fragment(tsn, &[0; 1000])), DataOutcome::New);
    }
    assert_eq!(receive.a_rwnd(), 0);
    receive.packet_done(NOW);
    receive.write_sack(100);
    assert_eq!(receive.on_data(&fragment(13, &[0; 1000])), DataOutcome::NoRoom);
    let first = Data { beginning: true, ..fragment(1, &[0; 1500]) };
    assert_eq!(receive.on_data(&first), DataOutcome::New);
    receive.packet_done(NOW);
    assert!(receive.ack_due(NOW));
    let sack = receive.write_sack(100);
    assert_eq!(sack.cumulative_tsn_ack, Tsn(1));
    assert_eq!(sack.gap_ack_blocks, [GapAckBlock { start: 2, end: 9 }], "11 and 12 are gone");
    assert_eq!(receive.buffered(), 9500);
    assert_eq!(receive.on_data(&fragment(12, &[0; 1000])), DataOutcome::NoRoom);
    receive.invariants();
}

/// What the user has cannot be dropped: then even a gap waits.
#[test]
fn what_the_user_holds_is_not_displaced() {
    let mut receive = receive(BUFFER);
    for tsn in 2..=11 {
        assert_eq!(receive.on_data(&message(tsn, &[0; 1000])), DataOutcome::New);
    }
    assert_eq!(receive.on_data(&message(1, &[0; 1000])), DataOutcome::NoRoom);
    assert_eq!(drain(&mut receive), BUFFER);
    assert_eq!(receive.on_data(&message(1, &[0; 1000])), DataOutcome::New);
    assert_eq!(receive.cumulative_tsn(), Tsn(11));
}

/// A reassembly bomb: bookkeeping is bounded as payload is.
#[test]
fn a_thousand_tiny_fragments_do_not_take_a_thousand_times_the_memory() {
    let mut bomb = receive(BUFFER);
    let accepted = (0..5000).filter(|n| bomb.on_data(&fragment(3 + 2 * n, &[0])) == DataOutcome::New).count();
    assert_eq!(accepted, BUFFER.div_ceil(window::OVERHEAD).div_ceil(window::HELD));
    assert_eq!(bomb.a_rwnd(), 0);
    assert_eq!(bomb.on_data(&message(1, &[0])), DataOutcome::New, "the gap can still be filled");
    bomb.invariants();
    // The same with whole messages that the user does not read.
    let mut unread = receive(BUFFER);
    let accepted = (0..5000).filter(|&n| unread.on_data(&message(1 + n, &[0])) == DataOutcome::New).count();
    assert_eq!(accepted, BUFFER.div_ceil(window::OVERHEAD));
    while unread.pop().is_some() {}
    assert_eq!(unread.on_data(&message(1 + accepted as u32, &[0])), DataOutcome::NoRoom);
    unread.release(NOW, accepted, || None);
    assert_eq!(unread.on_data(&message(1 + accepted as u32, &[0])), DataOutcome::New);
}

/// RFC 9260 §6.9: a message ten times the buffer gets through, with every second chunk first lost.
#[test]
fn a_message_ten_times_the_buffer_arrives() {
    let content: Vec<u8> = (0..10 * BUFFER).map(|i| (i % 251) as u8).collect();
    let chunks: Vec<&[u8]> = content.chunks(1000).collect();
    let data = |index: usize| Data {
        unordered: false,
        beginning: index == 0,
        ending: index + 1 == chunks.len(),
        ..message(1 + index as u32, chunks[index])
    };
    let mut receive = receive(BUFFER);
    let (mut parts, mut arrived) = (Vec::new(), Vec::new());
    for _ in 0..10 * chunks.len() {
        let next = receive.cumulative_tsn().0 as usize;
        if next == chunks.len() {
            break;
        }
        for index in (next + 1..(next + 12).min(chunks.len())).step_by(2) {
            receive.on_data(&data(index));
        }
        assert_eq!(receive.on_data(&data(next)), DataOutcome::New, "stuck at {next}");
        receive.invariants();
        while let Some(received) = receive.pop() {
            parts.push(received.part);
            arrived.extend_from_slice(&received.payload);
            receive.release(NOW, received.payload.len(), || None);
        }
    }
    assert!(arrived == content);
    assert!(parts.len() > 10);
    assert_eq!((parts[0], parts[parts.len() - 1]), (Part::First, Part::Last));
    assert!(parts[1..parts.len() - 1].iter().all(|&part| part == Part::Middle));
    assert_eq!((receive.messages(), receive.buffered()), (1, 0));
}

/// RFC 9260 §6.9: the beginning of a message leaves no room for its next chunk, which cannot be cut again. The user is
/// given the beginning, and with it the means to make room.
#[test]
fn a_message_does_not_keep_itself_out() {
    let mut receive = receive(BUFFER);
    assert_eq!(receive.on_data(&Data { ending: false, ..message(1, &[1; 2000]) }), DataOutcome::New);
    assert_eq!(drain(&mut receive), 0);
    assert_eq!(receive.on_data(&fragment(2, &[2; 9000])), DataOutcome::NoRoom);
    assert_eq!(drain(&mut receive), 2000);
    assert_eq!(receive.on_data(&fragment(2, &[2; 9000])), DataOutcome::New);
    assert_eq!(drain(&mut receive), 9000);
    assert_eq!(receive.on_data(&Data { beginning: false, ..message(3, &[3; 10]) }), DataOutcome::New);
    assert_eq!(drain(&mut receive), 10);
    assert_eq!((receive.messages(), receive.buffered()), (1, 0));
}

/// A program that takes whole messages gets none in parts: not because it is slow to read, only what can never be whole is refused.
#[test]
fn who_takes_whole_messages_gets_no_parts() {
    let large_messages = LargeMessages::Refuse;
    let mut receive =
        with_limits(&LimitConfig { receive_buffer: BUFFER, large_messages, ..Config::rfc().limits });
    assert_eq!(receive.on_data(&message(1, &[1; 4000])), DataOutcome::New);
    let waiting = receive.pop().expect("a message");
    assert_eq!(receive.on_data(&Data { ending: false, ..message(2, &[2; 5500]) }), DataOutcome::New);
    // The user is slow, and there is room when it has read.
    assert_eq!(receive.on_data(&fragment(3, &[3; 2000])), DataOutcome::NoRoom);
    assert_eq!(receive.pop(), None);
    receive.release(NOW, waiting.payload.len(), || None);
    receive.write_sack(100);
    assert_eq!(receive.on_data(&fragment(3, &[3; 2000])), DataOutcome::New);
    receive.invariants();
    // Nothing can make room for more.
    assert_eq!(receive.on_data(&fragment(4, &[4; 3000])), DataOutcome::TooLarge { limit: BUFFER });
    assert_eq!(receive.pop(), None);
    assert_eq!(
        receive.on_data(&Data { beginning: false, ..message(4, &[4; 100]) }),
        DataOutcome::New,
        "what fits is taken"
    );
    let whole = receive.pop().expect("a message");
    assert_eq!((whole.part, whole.payload.len()), (Part::Whole, 7600));
}

/// RFC 9260 §6.5: acknowledged and discarded.
#[test]
fn an_invalid_stream_is_acknowledged() {
    let mut receive = receive(BUFFER);
    assert_eq!(
        receive.on_data(&Data { stream: StreamId(4), ..message(1, b"x") }),
        DataOutcome::InvalidStream
    );
    assert_eq!(
        receive.on_data(&Data { stream: StreamId(4), ..fragment(2, b"x") }),
        DataOutcome::InvalidStream
    );
    assert_eq!(receive.on_data(&Data { stream: StreamId(3), ..message(3, b"y") }), DataOutcome::New);
    assert_eq!((receive.cumulative_tsn(), receive.buffered()), (Tsn(3), 1));
    // It closes a gap as any other.
    receive.on_data(&message(5, b"z"));
    assert!(receive.has_gaps());
    assert_eq!(
        receive.on_data(&Data { stream: StreamId(9), ..message(4, b"x") }),
        DataOutcome::InvalidStream
    );
    assert_eq!(receive.cumulative_tsn(), Tsn(5));
}

/// The way back has become smaller, which nobody tells the receiver of (RFC 8899 §4.3): the peer sends again what long SACKs have acknowledged.
#[test]
fn long_sacks_that_do_not_arrive_become_brief() {
    let mut receive = receive(1 << 20);
    receive.on_data(&message(1, b"x"));
    for tsn in (3..=600).step_by(2) {
        receive.on_data(&message(tsn, b"x"));
    }
    let mut blocks = |tsn: u32| {
        receive.on_data(&message(tsn, b"x"));
        receive.packet_done(NOW);
        receive.write_sack(1_400).gap_ack_blocks.len()
    };
    assert_eq!(blocks(3), 299, "this is above the point up to which all has come");
    assert_eq!([blocks(1), blocks(1), blocks(1)], [299; 3]);
    assert_eq!(blocks(1), BRIEF_BLOCKS + 1);
    assert_eq!(blocks(2), BRIEF_BLOCKS + 1);
    // Until they are brief anyway.
    (4..=400).step_by(2).for_each(|tsn| _ = blocks(tsn));
    assert_eq!(blocks(1), 99);
    (602..=1_000).step_by(2).for_each(|tsn| _ = blocks(tsn));
    assert!(blocks(1) > 250);
}

#[test]
fn duplicates_and_strays_are_answered_at_once() {
    let mut receive = receive(BUFFER);
    receive.on_data(&message(1, b"x"));
    receive.packet_done(NOW);
    receive.write_sack(100);
    assert_eq!(receive.on_data(&message(1, b"x")), DataOutcome::Duplicate);
    receive.packet_done(NOW);
    assert!(receive.ack_due(NOW));
    assert_eq!(receive.write_sack(100).duplicate_tsns, [Tsn(1)]);
    assert_eq!(receive.on_data(&message(100_000, b"x")), DataOutcome::OutsideWindow);
    receive.packet_done(NOW);
    assert!(receive.ack_due(NOW));
    let sack = receive.write_sack(100);
    assert!(sack.duplicate_tsns.is_empty() && sack.gap_ack_blocks.is_empty());
    assert_eq!((receive.duplicates(), receive.messages(), receive.bytes()), (1, 1, 1));
    // RFC 7053 §5.2.
    receive.on_data(&Data { immediate: true, ..message(2, b"x") });
    receive.packet_done(NOW);
    assert!(receive.ack_due(NOW), "RFC 7053");
}

/// RFC 5681 §4.2: also what fills the last gap.
#[test]
fn filling_a_gap_is_acknowledged_at_once() {
    let mut receive = receive(BUFFER);
    for tsn in [1, 3, 2] {
        receive.on_data(&message(tsn, b"x"));
        receive.packet_done(NOW);
        assert!(receive.ack_due(NOW), "TSN {tsn}");
        receive.write_sack(100);
    }
    receive.on_data(&message(4, b"x"));
    receive.packet_done(NOW);
    assert!(!receive.ack_due(NOW) && receive.ack_deadline().is_some());
}

/// RFC 9260 §6.7: the lowest blocks, as many as fit; duplicates only behind them.
#[test]
fn a_sack_is_cut_to_its_room() {
    let mut receive = receive(BUFFER);
    for n in 1..=20 {
        receive.on_data(&message(1 + 2 * n, b"x"));
        receive.on_data(&message(1 + 2 * n, b"x"));
    }
    let sack = receive.write_sack(16 + 4 * 5 + 3);
    assert_eq!(sack.gap_ack_blocks.len(), 5);
    assert_eq!(sack.gap_ack_blocks[4], GapAckBlock { start: 11, end: 11 });
    assert!(sack.duplicate_tsns.is_empty());
    receive.on_data(&message(3, b"x"));
    let sack = receive.write_sack(16 + 4 * 21);
    assert_eq!((sack.gap_ack_blocks.len(), sack.duplicate_tsns), (20, &[Tsn(3)][..]));
    assert!(receive.write_sack(0).gap_ack_blocks.is_empty());
}

#[test]
fn after_a_violation_nothing_is_taken() {
    let mut receive = receive(BUFFER);
    receive.on_data(&message(1, b"kept"));
    let outcome = receive.on_data(&fragment(2, b"x"));
    assert!(matches!(outcome, DataOutcome::Violation(_)));
    assert_eq!(receive.on_data(&message(3, b"x")), outcome);
    assert_eq!(drain(&mut receive), 4);
}

/// Thousands of idle associations cost little.
#[test]
fn an_idle_receiver_is_small() {
    assert!(size_of::<Receive>() <= 672, "{} bytes", size_of::<Receive>());
    let mut receive = receive(4 << 20);
    for tsn in [1, 3, 2, 3, 900, 2000] {
        receive.on_data(&message(tsn, b"x"));
    }
    receive.write_sack(1000);
    for tsn in 4..2000 {
        receive.on_data(&message(tsn, b"x"));
    }
    drain(&mut receive);
    assert!(receive.last_sack.blocks.capacity() <= sacks::KEPT_BLOCKS);
    receive.invariants();
}

/// Delayed acknowledgement for multipath: what comes out of order, or fills a gap, waits like all else, and the SACK says for how many packets it is. What is
/// urgent by itself does not wait.
#[test]
fn out_of_order_packets_may_wait() {
    for (out_of_order, at_once) in [(OutOfOrder::AcknowledgeAtOnce, true), (OutOfOrder::Delay, false)] {
        let sack = SackConfig { out_of_order, delay: Duration::from_millis(20), ..Config::rfc().sack };
        let limits = LimitConfig { receive_buffer: BUFFER, ..Config::rfc().limits };
        let mut receive = Receive::new(Tsn(1), 4, &limits, Buffers::default(), &sack, route(1));
        let mut packet = |data: &Data<'_>| {
            assert_eq!(receive.on_data(data), DataOutcome::New);
            receive.packet_done(NOW);
            let due = receive.ack_due(NOW);
            let packets = receive.acknowledgement.unacknowledged();
            if due {
                receive.write_sack(100);
            }
            (due, packets)
        };
        assert_eq!(packet(&message(1, b"first")), (true, 1));
        assert_eq!(packet(&message(3, b"beyond a gap")), (at_once, 1), "{out_of_order:?}");
        assert_eq!(packet(&message(5, b"another")), (true, if at_once { 1 } else { 2 }));
        assert_eq!(packet(&message(2, b"fills one")), (at_once, 1), "{out_of_order:?}");
        assert!(packet(&Data { immediate: true, ..message(7, b"urgent") }).0);
    }
}

/// Whole unordered messages cannot be dropped any more. What everything waits for is taken beside them, if it is small and room was set aside.
#[test]
fn what_everything_waits_for_has_spare_room() {
    let mut receive = receive(BUFFER);
    let mut tsn = 2;
    while receive.on_data(&message(tsn, &[0; 1000])) == DataOutcome::New {
        tsn += 1;
    }
    assert_eq!(receive.on_data(&message(1, &[0; 100])), DataOutcome::NoRoom);
    receive.set_spare_room(256);
    assert_eq!(receive.on_data(&message(1, &[0; 300])), DataOutcome::NoRoom);
    assert_eq!(receive.on_data(&message(tsn, &[0; 100])), DataOutcome::NoRoom);
    assert_eq!(receive.on_data(&message(1, &[0; 100])), DataOutcome::New);
    receive.invariants();
    drain(&mut receive);
    receive.set_spare_room(0);
    receive.invariants();
}
