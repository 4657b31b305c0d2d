use proptest::prelude::*;

use super::*;
use crate::send::stream_scheduler::{FirstComeFirstServed, RoundRobin};

fn streams() -> OutboundStreams {
    OutboundStreams::new(10, FirstComeFirstServed::boxed())
}

fn message(stream: u16, content: &'static [u8]) -> Message {
    Message::new(StreamId(stream), Bytes::from_static(content))
}

fn unordered(stream: u16, content: &'static [u8]) -> Message {
    Message { delivery: Delivery::Unordered, ..message(stream, content) }
}

/// RFC 9260 §6.5: each stream counts for itself, unordered messages do not count.
#[test]
fn stream_sequence_numbers() {
    let mut streams = streams();
    for each in [message(1, b"a"), unordered(1, b"b"), message(2, b"c"), message(1, b"d")] {
        streams.push(each);
    }
    let numbers: Vec<_> = core::iter::from_fn(|| streams.take(100))
        .map(|piece| (piece.stream.0, piece.ssn.0, piece.unordered))
        .collect();
    assert_eq!(numbers, [(1, 0, false), (1, 1, true), (2, 0, false), (1, 1, false)]);
}

/// RFC 9260 §6.5: after 65535 comes 0.
#[test]
fn the_stream_sequence_number_wraps() {
    let mut streams = streams();
    for number in 0..=65_536_u32 {
        streams.push(message(0, b"x"));
        assert_eq!(streams.take(1).unwrap().ssn, Ssn(number as u16));
    }
}

/// RFC 9260 §6.9: B on the first fragment, E on the last, one number for all, nothing in between.
#[test]
fn fragments_of_a_message_are_not_interleaved() {
    let mut streams = OutboundStreams::new(10, RoundRobin::boxed());
    streams.push(message(1, b"abcdefg"));
    streams.push(message(2, b"z"));
    let pieces: Vec<Piece> = core::iter::from_fn(|| streams.take(3)).collect();
    let shapes: Vec<_> = pieces.iter().map(|p| (p.stream.0, &p.payload[..], p.beginning, p.ending)).collect();
    let expected: [(u16, &[u8], bool, bool); 4] =
        [(1, b"abc", true, false), (1, b"def", false, false), (1, b"g", false, true), (2, b"z", true, true)];
    assert_eq!(shapes, expected);
    assert!(pieces[..3].iter().all(|piece| piece.ssn == pieces[0].ssn));
}

/// RFC 7053 §4: the I bit is of use on the last fragment only.
#[test]
fn only_the_last_fragment_asks_for_a_sack() {
    let mut streams = streams();
    streams.push(Message { acknowledge: Acknowledge::Immediately, ..message(0, b"abcd") });
    let bits: Vec<bool> = core::iter::from_fn(|| streams.take(2)).map(|piece| piece.immediate).collect();
    assert_eq!(bits, [false, true]);
}

proptest! {
    /// However it is cut, all of it comes out, counted right.
    #[test]
    fn nothing_is_lost(
        messages in proptest::collection::vec((0..10_u16, 1..50_usize), 0..20),
        rooms in proptest::collection::vec(1..20_usize, 1..20),
    ) {
        let mut streams = OutboundStreams::new(10, RoundRobin::boxed());
        let mut left: usize = messages.iter().map(|&(_, len)| len).sum();
        for &(stream, len) in &messages {
            streams.push(Message::new(StreamId(stream), vec![stream as u8; len]));
        }
        let mut rooms = rooms.iter().cycle();
        while let Some(head) = streams.head_len() {
            prop_assert_eq!(streams.queued(), left);
            let room = *rooms.next().unwrap();
            let piece = streams.take(room).unwrap();
            prop_assert_eq!(piece.payload.len(), head.min(room));
            prop_assert!(piece.payload.iter().all(|&byte| u16::from(byte) == piece.stream.0));
            left -= piece.payload.len();
        }
        prop_assert!(left == 0 && streams.is_empty() && streams.take(1).is_none());
    }
}

/// Messages that go ahead keep their order in stream 0, and only messages of stream 0 that were there first go before them.
#[test]
fn some_messages_go_ahead() {
    for (make, behind) in [(FirstComeFirstServed::boxed as fn() -> _, "xay"), (RoundRobin::boxed, "xya")] {
        let mut streams = OutboundStreams::new(4, make());
        let order = |streams: &mut OutboundStreams| {
            let taken = core::iter::from_fn(|| streams.take(100)).map(|piece| piece.payload[0]);
            String::from_utf8(taken.collect()).unwrap()
        };
        streams.push(message(2, b"x"));
        streams.push_ahead(message(0, b"a"));
        streams.push_ahead(message(0, b"b"));
        streams.push(message(0, b"y"));
        assert_eq!(order(&mut streams), "abxy");
        assert!(streams.is_empty());
        streams.push(message(0, b"x"));
        streams.push_ahead(message(0, b"a"));
        streams.push(message(1, b"y"));
        assert_eq!(order(&mut streams), behind);
        assert!(streams.is_empty());
    }
}
