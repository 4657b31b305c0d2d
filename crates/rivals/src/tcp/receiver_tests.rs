use core::time::Duration;

use proptest::prelude::*;

use super::*;

const NOW: Instant = Instant::ZERO;

fn receiver() -> Receiver {
    Receiver::new(DelayedAck { segments: 2, after: Duration::from_millis(100) }, 1 << 20)
}

/// RFC 5681 §4.2.
#[test]
fn acknowledgements_are_delayed_unless_something_is_missing() {
    let mut receiver = receiver();
    assert_eq!(receiver.on_data(NOW, 0, 10), Urgency::Later);
    assert_eq!(receiver.due(), Some(NOW + Duration::from_millis(100)));
    assert_eq!(receiver.on_data(NOW, 10, 10), Urgency::Now, "every second segment");
    receiver.on_acknowledged();
    assert_eq!(receiver.due(), None);
    assert_eq!(receiver.on_data(NOW, 30, 10), Urgency::Now, "out of order");
    assert_eq!(receiver.on_data(NOW, 20, 10), Urgency::Now, "fills the gap");
    assert_eq!(receiver.next(), 40);
    receiver.on_acknowledged();
    assert_eq!(receiver.on_data(NOW, 0, 10), Urgency::Now, "old");
    assert_eq!(receiver.on_data(NOW, 40, 10), Urgency::Later);
}

/// RFC 2018 §4.
#[test]
fn the_latest_block_comes_first() {
    let mut receiver = receiver();
    for offset in [10, 30, 50, 70, 90, 30] {
        receiver.on_data(NOW, offset, 10);
    }
    let blocks = receiver.blocks(|offset| offset as u32);
    assert_eq!(blocks.as_slice(), [(30, 40), (90, 100), (70, 80), (50, 60)]);
}

/// RFC 2883 §4: what is reported is what was here already.
#[test]
fn duplicates_are_noticed() {
    let mut receiver = receiver();
    for (offset, bytes, expected) in [
        (0, 10, None),
        (20, 10, None),
        (5, 5, Some((5, 10))),
        (20, 10, Some((20, 30))),
        (25, 10, Some((25, 30))),
        (10, 15, Some((20, 25))),
        (30, 20, Some((30, 35))),
        (50, 10, None),
    ] {
        receiver.on_data(NOW, offset, bytes);
        assert_eq!(receiver.duplicate(), expected, "{bytes} at {offset}");
    }
    receiver.on_data(NOW, 0, 1);
    receiver.on_acknowledged();
    assert_eq!(receiver.duplicate(), None, "once");
}

#[test]
fn what_lies_beyond_the_window_or_is_too_much_is_not_kept() {
    let mut receiver = receiver();
    receiver.on_data(NOW, (1 << 20) + 1, 10);
    receiver.on_data(NOW, (1 << 20) - 5, 10);
    assert_eq!(receiver.pieces(), [((1 << 20) - 5, 1 << 20)]);
    for piece in 0..2 * PIECES_MAX as u64 {
        receiver.on_data(NOW, 100 + 2 * piece, 1);
    }
    assert_eq!(receiver.pieces().len(), PIECES_MAX);
}

proptest! {
    /// Against a map of single bytes.
    #[test]
    fn pieces_are_what_has_come(arrivals in proptest::collection::vec((0..60_u64, 1..10_u64), 0..40)) {
        let mut receiver = receiver();
        let mut bytes = [false; 80];
        for (offset, count) in arrivals {
            receiver.on_data(NOW, offset, count);
            bytes[offset as usize..(offset + count) as usize].fill(true);
        }
        let next = bytes.iter().position(|come| !come).unwrap_or(80);
        prop_assert_eq!(receiver.next(), next as u64);
        let pieces = receiver.pieces();
        for (index, come) in bytes.iter().enumerate().skip(next) {
            let inside = pieces.iter().any(|&(left, right)| (left..right).contains(&(index as u64)));
            prop_assert_eq!(inside, *come);
        }
        prop_assert!(pieces.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
}
