//! Random operations on [`TsnMap`], driven by bytes and compared with a set of numbers: the body of a fuzz target and
//! of a test.

use std::collections::BTreeSet;

use whimbrel_wire::{GapAckBlock, Tsn};

use super::tsn_map::{Place, TsnMap, WINDOW};
use crate::script::Script;

/// TSNs that arrive, are forgotten and are reported.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, 4096);
    let initial = script.pick(&[Tsn(1), Tsn(u32::MAX - 20), Tsn(0x7fff_fff0), Tsn(0)]);
    let mut map = TsnMap::new(initial);
    // Positions: 1 is the initial TSN.
    let mut beyond: BTreeSet<u64> = BTreeSet::new();
    let mut cumulative = 0_u64;
    while !script.is_empty() {
        let operation = script.byte();
        let ahead = match operation & 7 {
            0..=3 => u64::from(script.byte() % 16),
            4 | 5 => u64::from(script.byte()),
            6 => u64::from(script.u16()) + u64::from(operation >> 3),
            _ => u64::from(script.u32()),
        };
        let tsn = initial.prev().plus(cumulative as u32).plus(ahead as u32);
        let number = cumulative + ahead;
        let expected = if ahead == 0 || ahead >= 1 << 31 || beyond.contains(&number) {
            Place::Duplicate
        } else if ahead > u64::from(WINDOW) {
            Place::OutsideWindow
        } else {
            Place::New(number)
        };
        // Exactly half the circle away neither precedes nor follows.
        if ahead != 1 << 31 {
            assert_eq!(map.place(tsn), expected);
        }
        match expected {
            Place::New(position) => {
                map.record(position);
                beyond.insert(position);
                while beyond.remove(&(cumulative + 1)) {
                    cumulative += 1;
                }
            }
            Place::Duplicate if operation & 0x80 != 0 && beyond.remove(&number) => map.remove(number),
            _ => {}
        }
        compare(&map, cumulative, &beyond, usize::from(operation >> 3));
    }
}

fn compare(map: &TsnMap, cumulative: u64, beyond: &BTreeSet<u64>, max: usize) {
    map.invariants();
    assert_eq!(map.cumulative(), cumulative);
    assert_eq!(map.has_gaps(), !beyond.is_empty());
    assert_eq!(map.highest(), beyond.last().copied().unwrap_or(cumulative));
    let mut expected: Vec<GapAckBlock> = Vec::new();
    for &position in beyond {
        let offset = (position - cumulative) as u16;
        match expected.last_mut() {
            Some(block) if block.end + 1 == offset => block.end = offset,
            _ => expected.push(GapAckBlock { start: offset, end: offset }),
        }
    }
    expected.truncate(max);
    let mut blocks = Vec::new();
    map.gap_ack_blocks(max, &mut blocks);
    assert_eq!(blocks, expected);
}

#[cfg(test)]
#[path = "tsn_map_operations_tests.rs"]
mod tests;
