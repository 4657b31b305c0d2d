use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn position(map: &TsnMap, tsn: Tsn) -> u64 {
    match map.place(tsn) {
        Place::New(position) => position,
        other => panic!("{tsn} is {other:?}"),
    }
}

fn record(map: &mut TsnMap, tsn: Tsn) {
    map.record(position(map, tsn));
    map.invariants();
}

fn blocks(map: &TsnMap, max: usize) -> Vec<(u16, u16)> {
    let mut out = Vec::new();
    map.gap_ack_blocks(max, &mut out);
    out.iter().map(|block| (block.start, block.end)).collect()
}

#[test]
fn in_order_takes_no_memory() {
    let mut map = TsnMap::new(Tsn(u32::MAX - 1));
    assert_eq!(map.cumulative_tsn(), Tsn(u32::MAX - 2));
    for n in 0..4 {
        record(&mut map, Tsn(u32::MAX - 1).plus(n));
    }
    assert_eq!(map.cumulative_tsn(), Tsn(1), "wraps");
    assert_eq!(map.words.capacity(), 0);
    assert_eq!(map.place(Tsn(1)), Place::Duplicate);
    assert_eq!(map.place(Tsn(u32::MAX)), Place::Duplicate);
}

/// The example of RFC 9260 §3.3.4.
#[test]
fn gap_ack_blocks_of_the_rfc() {
    let mut map = TsnMap::new(Tsn(10));
    for tsn in [10, 11, 12, 14, 15, 17] {
        record(&mut map, Tsn(tsn));
    }
    assert_eq!(map.cumulative_tsn(), Tsn(12));
    assert_eq!(blocks(&map, 9), [(2, 3), (5, 5)]);
    assert_eq!(blocks(&map, 1), [(2, 3)]);
    assert_eq!(map.place(Tsn(15)), Place::Duplicate);
    record(&mut map, Tsn(13));
    assert_eq!((map.cumulative_tsn(), blocks(&map, 9)), (Tsn(15), vec![(2, 2)]));
    record(&mut map, Tsn(16));
    assert!(!map.has_gaps());
    assert_eq!(map.cumulative_tsn(), Tsn(17));
}

#[test]
fn the_window_ends_where_it_says() {
    let cumulative = Tsn(u32::MAX - 100);
    let mut map = TsnMap::new(cumulative.next());
    assert_eq!(map.place(cumulative.plus(WINDOW + 1)), Place::OutsideWindow);
    assert_eq!(map.place(cumulative.plus(0x7fff_ffff)), Place::OutsideWindow);
    assert_eq!(map.place(cumulative.plus(0x8000_0000)), Place::OutsideWindow, "neither before nor after");
    assert_eq!(map.place(cumulative.plus(0x8000_0001)), Place::Duplicate);
    record(&mut map, cumulative.plus(WINDOW));
    assert_eq!(map.words.len(), 1024);
    assert_eq!(blocks(&map, 9), [(WINDOW as u16, WINDOW as u16)]);
    for n in 1..WINDOW {
        map.record(position(&map, cumulative.plus(n)));
    }
    assert_eq!(map.cumulative_tsn(), cumulative.plus(WINDOW));
    assert!(map.words.is_empty(), "the ring is given back");
    map.invariants();
}

/// Every alignment of the window to the ring's words, grown in one go and bit by bit.
#[test]
fn the_ring_holds_the_window_at_every_alignment() {
    for start in 0..130 {
        let mut map = TsnMap::new(Tsn(0));
        for tsn in 0..start {
            record(&mut map, Tsn(tsn));
        }
        for ahead in [1, 2, 63, 64, 65, 1000, WINDOW - 1] {
            record(&mut map, Tsn(start).plus(ahead));
        }
        assert_eq!(blocks(&map, 9).len(), 4);
        assert_eq!(blocks(&map, 9)[..2], [(2, 3), (64, 66)]);
    }
}

#[test]
fn removing_the_highest_finds_the_next() {
    let mut map = TsnMap::new(Tsn(1));
    for tsn in [3, 70, 200] {
        record(&mut map, Tsn(tsn));
    }
    for (removed, highest) in [(200, 70), (70, 3), (3, 0)] {
        map.remove(removed);
        map.invariants();
        assert_eq!(map.highest(), highest);
        assert_eq!(map.place(Tsn(removed as u32)), Place::New(removed));
    }
    assert!(!map.has_gaps());
}

proptest! {
    /// Against a set of numbers.
    #[test]
    fn agrees_with_a_set(
        initial in prop_oneof![Just(1), Just(u32::MAX - 50), any::<u32>()],
        operations in proptest::collection::vec((any::<bool>(), prop_oneof![1..6_u32, 1..200_u32, 1..70_000_u32]), 1..400),
    ) {
        let mut map = TsnMap::new(Tsn(initial));
        let mut model = BTreeSet::new();
        let mut cumulative = 0_u64;
        for (remove, ahead) in operations {
            let tsn = map.cumulative_tsn().plus(ahead);
            let number = cumulative + u64::from(ahead);
            let expected = if ahead > WINDOW {
                Place::OutsideWindow
            } else if model.contains(&number) {
                Place::Duplicate
            } else {
                Place::New(number)
            };
            prop_assert_eq!(map.place(tsn), expected);
            match expected {
                Place::New(position) => {
                    map.record(position);
                    model.insert(number);
                }
                Place::Duplicate if remove => {
                    map.remove(number);
                    model.remove(&number);
                }
                _ => {}
            }
            while model.remove(&(cumulative + 1)) {
                cumulative += 1;
            }
            map.invariants();
            prop_assert_eq!(map.cumulative_tsn(), Tsn(initial).prev().plus(cumulative as u32));
            prop_assert_eq!(map.highest(), model.last().copied().unwrap_or(cumulative));
            let reported: Vec<u64> = blocks(&map, usize::MAX)
                .into_iter()
                .flat_map(|(start, end)| start..=end)
                .map(|offset| cumulative + u64::from(offset))
                .collect();
            prop_assert_eq!(reported, model.iter().copied().collect::<Vec<_>>());
        }
    }
}
