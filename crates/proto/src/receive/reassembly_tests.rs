use whimbrel_wire::{PayloadProtocolId, Ssn, Tsn};

use super::*;

/// What a chunk is: B and E as in "B", "E", "BE", ""; U for unordered.
fn data<'a>(flags: &str, stream: u16, ssn: u16, payload: &'a [u8]) -> Data<'a> {
    Data {
        immediate: false,
        unordered: flags.contains('U'),
        beginning: flags.contains('B'),
        ending: flags.contains('E'),
        tsn: Tsn(0),
        stream: StreamId(stream),
        ssn: Ssn(ssn),
        ppid: PayloadProtocolId(77),
        payload,
    }
}

fn popped(reassembly: &mut Reassembly) -> Vec<(u16, Part, Vec<u8>)> {
    core::iter::from_fn(|| reassembly.pop())
        .map(|received| (received.stream.0, received.part, received.payload.to_vec()))
        .collect()
}

#[test]
fn whole_messages_pass() {
    let mut reassembly = Reassembly::new(1000, Buffers::default());
    reassembly.in_order(1, &data("BE", 0, 0, b"a")).expect("first");
    reassembly.in_order(2, &data("BE", 9, 0, b"b")).expect("another stream");
    reassembly.in_order(3, &data("UBE", 0, 55, b"c")).expect("no order, any number");
    reassembly.in_order(4, &data("BE", 0, 1, b"d")).expect("second");
    let first = reassembly.pop().expect("ready");
    assert_eq!((first.ppid, first.delivery), (PayloadProtocolId(77), Delivery::Ordered));
    let rest: Vec<_> =
        popped(&mut reassembly).into_iter().map(|(stream, _, payload)| (stream, payload)).collect();
    assert_eq!(rest, [(9, b"b".to_vec()), (0, b"c".to_vec()), (0, b"d".to_vec())]);
    assert_eq!((reassembly.messages(), reassembly.bytes(), reassembly.kept_bytes()), (4, 4, 0));
}

/// RFC 9260 §6.6: a loss in one stream does not hold up another, nor unordered messages.
#[test]
fn streams_do_not_wait_for_each_other() {
    let mut reassembly = Reassembly::new(1000, Buffers::default());
    reassembly.beyond_gap(2, &data("BE", 0, 1, b"second")).expect("waits");
    reassembly.beyond_gap(3, &data("BE", 1, 0, b"other")).expect("its turn");
    reassembly.beyond_gap(4, &data("UB", 0, 0, b"un")).expect("begins");
    reassembly.beyond_gap(5, &data("UE", 0, 0, b"ordered")).expect("ends");
    let now: Vec<_> = popped(&mut reassembly).into_iter().map(|(_, _, payload)| payload).collect();
    assert_eq!(now, [b"other".to_vec(), b"unordered".to_vec()]);
    reassembly.in_order(1, &data("BE", 0, 0, b"first")).expect("fills the gap");
    reassembly.advanced(5).expect("consistent");
    let now: Vec<_> = popped(&mut reassembly).into_iter().map(|(_, _, payload)| payload).collect();
    assert_eq!(now, [b"first".to_vec(), b"second".to_vec()]);
    reassembly.invariants(5);
}

#[test]
fn a_gap_within_a_message_is_filled() {
    let mut reassembly = Reassembly::new(1000, Buffers::default());
    reassembly.in_order(1, &data("B", 0, 0, b"a")).expect("begins");
    reassembly.beyond_gap(3, &data("", 0, 0, b"c")).expect("held");
    reassembly.beyond_gap(4, &data("E", 0, 0, b"d")).expect("held");
    reassembly.beyond_gap(5, &data("B", 0, 1, b"x")).expect("held");
    reassembly.in_order(2, &data("", 0, 0, b"b")).expect("fills the gap");
    reassembly.advanced(5).expect("consistent");
    assert_eq!(popped(&mut reassembly), [(0, Part::Whole, b"abcd".to_vec())]);
    assert_eq!((reassembly.items(), reassembly.kept_bytes()), (1, 1), "the next is being built");
    reassembly.in_order(6, &data("E", 0, 1, b"y")).expect("ends");
    assert_eq!(popped(&mut reassembly), [(0, Part::Whole, b"xy".to_vec())]);
}

#[test]
fn violations_are_named() {
    let begun = || {
        let mut reassembly = Reassembly::new(1000, Buffers::default());
        reassembly.in_order(1, &data("B", 0, 0, b"a")).expect("begins");
        reassembly
    };
    assert_eq!(
        Reassembly::new(1000, Buffers::default()).in_order(1, &data("", 0, 0, b"a")),
        Err(NO_BEGINNING)
    );
    assert_eq!(
        Reassembly::new(1000, Buffers::default()).in_order(1, &data("E", 0, 0, b"a")),
        Err(NO_BEGINNING)
    );
    assert_eq!(
        Reassembly::new(1000, Buffers::default()).in_order(1, &data("BE", 0, u16::MAX, b"a")),
        Err(SSN_OUT_OF_ORDER),
        "its turn has passed"
    );
    assert_eq!(begun().in_order(2, &data("B", 0, 0, b"a")), Err(BEGUN_WITHIN));
    assert_eq!(begun().in_order(2, &data("BE", 1, 0, b"a")), Err(BEGUN_WITHIN));
    for other in [data("", 1, 0, b"a"), data("", 0, 1, b"a"), data("U", 0, 0, b"a")] {
        assert_eq!(begun().in_order(2, &other), Err(INCONSISTENT));
    }
    let other_ppid = Data { ppid: PayloadProtocolId(1), ..data("E", 0, 0, b"a") };
    assert_eq!(begun().in_order(2, &other_ppid), Err(INCONSISTENT));
    assert_eq!(begun().in_order(3, &data("", 0, 0, b"a")), Err(INCONSISTENT), "TSN 2 was something else");
    assert_eq!(begun().beyond_gap(5, &data("BE", 0, 0, b"a")), Err(SSN_REUSED));
}

/// RFC 9260 §6.6: messages are delivered in the order of their SSNs, whatever TSNs their sender has given them.
#[test]
fn messages_wait_for_their_turn_whatever_their_tsns() {
    let mut reassembly = Reassembly::new(1000, Buffers::default());
    reassembly.in_order(1, &data("BE", 0, 3, b"d")).expect("waits");
    reassembly.in_order(2, &data("B", 0, 2, b"c")).expect("begins");
    reassembly.in_order(3, &data("", 0, 2, b"c")).expect("goes on");
    reassembly.in_order(4, &data("E", 0, 2, b"c")).expect("waits");
    reassembly.beyond_gap(6, &data("BE", 0, 1, b"b")).expect("waits");
    reassembly.beyond_gap(8, &data("BE", 0, 4, b"e")).expect("waits");
    assert_eq!((popped(&mut reassembly), reassembly.items(), reassembly.kept_bytes()), (vec![], 8, 6));
    assert!(reassembly.is_unfinished() && reassembly.is_stuck());
    reassembly.invariants(4);
    reassembly.in_order(5, &data("BE", 1, 0, b"x")).expect("of another stream");
    reassembly.advanced(6).expect("it waits on");
    reassembly.invariants(6);
    reassembly.in_order(7, &data("BE", 0, 0, b"a")).expect("the first");
    reassembly.advanced(8).expect("consistent");
    reassembly.invariants(8);
    let now: Vec<_> = popped(&mut reassembly).into_iter().map(|(_, _, payload)| payload).collect();
    assert_eq!(now, [&b"x"[..], b"a", b"b", b"ccc", b"d", b"e"]);
    assert!(!reassembly.is_unfinished() && reassembly.kept_bytes() == 0);
}

/// Nothing of a message is delivered before its turn; then what there is of it, if it is large.
#[test]
fn a_large_message_before_its_turn_is_delivered_in_parts_when_that_comes() {
    let mut reassembly = Reassembly::new(100, Buffers::default());
    reassembly.in_order(1, &data("B", 0, 1, &[7; 60])).expect("begins");
    reassembly.deliver_unfinished();
    assert_eq!(popped(&mut reassembly), []);
    reassembly.beyond_gap(3, &data("BE", 0, 0, b"first")).expect("its turn");
    let parts = popped(&mut reassembly).into_iter().map(|(_, part, payload)| (part, payload.len()));
    assert_eq!(parts.collect::<Vec<_>>(), [(Part::Whole, 5), (Part::First, 60)]);
    reassembly.invariants(1);
}

#[test]
fn an_ssn_is_used_once_whatever_the_tsns() {
    let early = || {
        let mut reassembly = Reassembly::new(1000, Buffers::default());
        reassembly.in_order(1, &data("BE", 0, 5, b"a")).expect("waits");
        reassembly.beyond_gap(4, &data("BE", 0, 6, b"a")).expect("waits");
        reassembly
    };
    assert_eq!(early().in_order(2, &data("BE", 0, 5, b"b")), Err(SSN_REUSED));
    assert_eq!(early().in_order(2, &data("B", 0, 6, b"b")), Err(SSN_REUSED));
    assert_eq!(early().beyond_gap(3, &data("BE", 0, 5, b"b")), Err(SSN_REUSED));
    let mut gone = early();
    gone.in_order(2, &data("BE", 0, 0, b"b")).expect("its turn");
    assert_eq!(gone.in_order(3, &data("BE", 0, 0, b"b")), Err(SSN_OUT_OF_ORDER));
}

#[test]
fn a_large_message_is_delivered_in_parts() {
    let mut reassembly = Reassembly::new(100, Buffers::default());
    let chunk = [7; 20];
    reassembly.in_order(1, &data("B", 0, 0, &chunk)).expect("begins");
    for position in 2..9 {
        reassembly.in_order(position, &data("", 0, 0, &chunk)).expect("goes on");
        reassembly.invariants(position);
    }
    reassembly.beyond_gap(10, &data("BE", 0, 1, b"next")).expect("waits");
    reassembly.in_order(9, &data("E", 0, 0, &chunk)).expect("ends");
    reassembly.advanced(10).expect("consistent");
    let parts: Vec<_> =
        popped(&mut reassembly).into_iter().map(|(_, part, payload)| (part, payload.len())).collect();
    let expected =
        [(Part::First, 60), (Part::Middle, 40), (Part::Middle, 40), (Part::Last, 40), (Part::Whole, 4)];
    assert_eq!(parts, expected);
    assert_eq!(reassembly.messages(), 2);
}

/// See `Part`: nothing else of the same stream and delivery comes between.
#[test]
fn unordered_messages_wait_while_another_is_delivered_in_parts() {
    let mut reassembly = Reassembly::new(100, Buffers::default());
    reassembly.in_order(1, &data("UB", 0, 0, &[1; 60])).expect("begins");
    for (position, stream) in [(4, 0), (5, 1), (6, 0)] {
        reassembly.beyond_gap(position, &data("UBE", stream, 0, &[2])).expect("held or delivered");
    }
    let parts = |reassembly: &mut Reassembly| -> Vec<_> {
        popped(reassembly).into_iter().map(|(stream, part, payload)| (stream, part, payload.len())).collect()
    };
    assert_eq!(parts(&mut reassembly), [(0, Part::First, 60), (1, Part::Whole, 1)]);
    reassembly.in_order(2, &data("UE", 0, 0, &[1])).expect("ends");
    assert_eq!(parts(&mut reassembly), [(0, Part::Last, 1), (0, Part::Whole, 1), (0, Part::Whole, 1)]);
}

/// A long message must not make the short ones after it keep its size.
#[test]
fn capacity_is_given_back() {
    let mut reassembly = Reassembly::new(1 << 20, Buffers::default());
    for (position, len) in [(1, 100_000), (3, 1)] {
        let payload = vec![1; len];
        reassembly.in_order(position, &data("UB", 0, 0, &payload)).expect("begins");
        reassembly.in_order(position + 1, &data("UE", 0, 0, b"x")).expect("ends");
    }
    let sizes: Vec<_> = core::iter::from_fn(|| reassembly.pop())
        .map(|received| Vec::from(received.payload).capacity())
        .collect();
    assert!(sizes[0] < 250_000 && sizes[1] < 10, "{sizes:?}");
}
