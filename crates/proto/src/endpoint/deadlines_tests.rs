use core::time::Duration;
use std::collections::BTreeMap;

use whimbrel_machine::{Instant, Seed};

use super::*;

fn at(nanoseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_nanos(nanoseconds)
}

#[test]
fn the_earliest_comes_first_and_of_equal_ones_the_lower_number() {
    let mut deadlines = Deadlines::default();
    for (number, when) in [(3, 20), (1, 10), (7, 10), (0, 30)] {
        deadlines.set(number, Some(at(when)));
    }
    let mut order = Vec::new();
    while let Some((when, number)) = deadlines.first() {
        order.push((when.as_nanos(), number));
        deadlines.set(number, None);
    }
    assert_eq!(order, [(10, 1), (10, 7), (20, 3), (30, 0)]);
}

/// What the peer makes the association set and stop a million times takes the room of one.
#[test]
fn a_deadline_that_moves_leaves_nothing_behind() {
    let mut deadlines = Deadlines::default();
    deadlines.set(1, Some(at(5)));
    for turn in 0..1_000 {
        deadlines.set(0, Some(at(10 + turn % 7)));
        deadlines.set(0, None);
    }
    assert_eq!((deadlines.heap.len(), deadlines.places.len()), (1, 2));
    assert_eq!(deadlines.get(0), None);
    assert_eq!(deadlines.get(1), Some(at(5)));
}

/// Beside a map that is searched from end to end.
#[test]
fn any_order_of_changes_ends_as_a_plain_search_would_have_it() {
    for seed in 0..50 {
        let mut rng = Seed::from_u64(seed).stream("deadlines", 0);
        let (mut deadlines, mut plain) = (Deadlines::default(), BTreeMap::new());
        for _ in 0..500 {
            let number = rng.below(40) as usize;
            let when = (rng.below(3) > 0).then(|| at(rng.below(50)));
            deadlines.set(number, when);
            match when {
                Some(when) => plain.insert(number, when),
                None => plain.remove(&number),
            };
            assert_eq!(
                deadlines.first(),
                plain.iter().map(|(&number, &when)| (when, number)).min(),
                "seed {seed}"
            );
            assert_eq!(deadlines.get(number), when);
        }
    }
}
