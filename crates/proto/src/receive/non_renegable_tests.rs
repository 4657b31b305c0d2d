use super::*;

type Pairs = Vec<(u16, u16)>;

fn split(blocks: &[(u16, u16)], held: &[(u64, u64)], max: usize) -> (Pairs, Pairs) {
    let blocks: Vec<_> = blocks.iter().map(|&(start, end)| GapAckBlock { start, end }).collect();
    let mut split = Split::default();
    split.make(&blocks, 1_000, held.iter().map(|(first, end)| first + 1_000..end + 1_000), max);
    let pairs = |list: &[GapAckBlock]| list.iter().map(|block| (block.start, block.end)).collect();
    (pairs(&split.renegable), pairs(&split.non_renegable))
}

#[test]
fn what_is_held_may_be_dropped_and_nothing_else() {
    assert_eq!(split(&[(2, 9)], &[], 9), (vec![], vec![(2, 9)]));
    assert_eq!(split(&[(2, 9)], &[(2, 10)], 9), (vec![(2, 9)], vec![]));
    assert_eq!(split(&[(2, 9)], &[(4, 6)], 9), (vec![(4, 5)], vec![(2, 3), (6, 9)]));
    assert_eq!(
        split(&[(2, 3), (5, 5), (7, 9)], &[(5, 6), (8, 9)], 9),
        (vec![(5, 5), (8, 8)], vec![(2, 3), (7, 7), (9, 9)])
    );
    // Messages that wait for their turn side by side are one block.
    assert_eq!(split(&[(2, 9)], &[(3, 4), (4, 6), (6, 7)], 9), (vec![(3, 6)], vec![(2, 2), (7, 9)]));
}

/// All that a SACK would tell of is told of; what there is no room to tell apart may be dropped.
#[test]
fn where_blocks_run_short_nothing_is_left_out() {
    let (blocks, held) = ([(2, 3), (5, 9), (11, 11)], [(2, 4), (6, 8), (11, 12)]);
    let all = (vec![(2, 3), (6, 7), (11, 11)], vec![(5, 5), (8, 9)]);
    assert_eq!(split(&blocks, &held, 5), all);
    for max in [3, 4] {
        assert_eq!(split(&blocks, &held, max), (vec![(2, 3), (5, 9), (11, 11)], vec![]), "{max}");
    }
    assert_eq!(split(&[], &held, 0), (vec![], vec![]));
}

/// A peer can have very many chunks held, each by itself.
#[test]
fn behind_many_runs_nothing_is_for_good() {
    let held: Vec<_> = (0..5_000).map(|n| (2 + 3 * n, 3 + 3 * n)).collect();
    let (renegable, kept) = split(&[(2, 15_000)], &held, usize::MAX);
    let runs = MAX_RUNS as u16;
    assert_eq!((renegable.len(), kept.len()), (MAX_RUNS + 1, MAX_RUNS));
    assert_eq!(renegable.last(), Some(&(2 + 3 * runs, 15_000)));
}
