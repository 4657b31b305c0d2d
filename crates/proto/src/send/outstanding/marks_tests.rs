use std::collections::BTreeSet;

use super::*;

/// Against a set of numbers: few and many marks, in runs and apart, below the first one, and forgotten ones.
#[test]
fn finds_what_is_marked_and_what_is_not() {
    let (mut marks, mut model) = (Marks::default(), BTreeSet::new());
    let mut random = 1_u64;
    let mut gone = 5000;
    for step in 0..6000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (chunk, length) = (gone + (random >> 33) % 12_000, 1 << (random >> 13 & 7));
        let marked = random >> 20 & 3 != 0;
        for number in chunk..chunk + length {
            marks.put(number, marked);
            if marked {
                model.insert(number)
            } else {
                model.remove(&number)
            };
        }
        if step % 50 == 0 {
            gone += random >> 40 & 127;
            marks.forget_before(gone);
            model = model.split_off(&gone);
        }
        for range in
            [gone..gone + 14_000, chunk.max(gone)..chunk + 5000, chunk.max(gone)..chunk.max(gone) + 1]
        {
            assert_eq!(marks.next(range.clone()), model.range(range.clone()).next().copied());
            assert_eq!(marks.count(range.clone()), model.range(range.clone()).count());
            assert_eq!(marks.next_unmarked(range.clone()), range.clone().find(|n| !model.contains(n)));
        }
    }
    assert!(marks.blocks.len() <= 5);
}

#[test]
fn an_empty_set_keeps_nothing() {
    let mut marks = Marks::default();
    assert_eq!((marks.next(0..u64::MAX), marks.next_unmarked(7..9)), (None, Some(7)));
    (0..100_000).for_each(|number| marks.put(number, true));
    assert_eq!((marks.next_unmarked(0..200_000), marks.next_unmarked(0..100_000)), (Some(100_000), None));
    marks.forget_before(100_000);
    assert_eq!(marks.blocks.len(), 1);
    marks.forget_before(102_400);
    assert_eq!((marks.blocks.len(), marks.blocks.capacity()), (0, 0));
    marks.put(5_000_000, true);
    assert_eq!((marks.next(0..6_000_000), marks.blocks.len()), (Some(5_000_000), 1));
}
