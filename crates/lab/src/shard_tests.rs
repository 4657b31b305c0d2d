use super::*;

/// The places of all runs of a shard.
fn places(number: u64, of: u64, runs: u64) -> Vec<u64> {
    let shard = Shard::new(number, of).unwrap();
    (0..).map(|round| shard.place(round)).take_while(|place| *place < runs).collect()
}

#[test]
fn each_run_is_in_one_shard_and_none_has_more_than_one_more() {
    for of in [1, 2, 3, 7, 64, 1000] {
        for runs in [0, 1, 5, 35, 64, 100, 999] {
            let shares: Vec<Vec<u64>> = (1..=of).map(|number| places(number, of, runs)).collect();
            let mut all: Vec<u64> = shares.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..runs).collect::<Vec<_>>(), "{of} of {runs}");
            let (least, most) = (shares.iter().map(Vec::len).min(), shares.iter().map(Vec::len).max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{of} of {runs}");
            for (number, share) in (1..).zip(&shares) {
                assert_eq!(Shard::new(number, of).unwrap().share(runs), share.len() as u64);
            }
        }
    }
}

/// One cell of 100 repetitions, and 100 cells of one, the longest of which come every so often.
#[test]
fn what_takes_longest_is_spread_over_all() {
    for of in [2, 3, 5, 6, 7, 8] {
        for period in 1..=16 {
            let long =
                |number| places(number, of, 960).into_iter().filter(|place| place % period == period - 1);
            let most = (1..=of).map(|number| long(number).count()).max().unwrap() as u64;
            let fair = 960 / period / of;
            assert!(most <= 2 * fair + 8, "{of} shards, every {period}th: {most} instead of {fair}");
        }
    }
    // The repetitions of a cell, wherever it begins.
    for cell in 0..20 {
        let of_cell = |number| places(number, 4, 600).into_iter().filter(|place| place / 30 == cell).count();
        let counts: Vec<usize> = (1..=4).map(of_cell).collect();
        assert!(counts.iter().all(|count| (6..=9).contains(count)), "{counts:?}");
    }
}

#[test]
fn a_shard_is_read_as_it_is_written() {
    let shard: Shard = "2/8".parse().unwrap();
    assert_eq!((shard.number(), shard.of(), shard.to_string().as_str()), (2, 8, "2/8"));
    assert_eq!(shard.in_name(), "2-of-8");
    assert_eq!(shard.all().count(), 8);
    for (text, error) in [
        ("2", ShardError::Unreadable),
        ("2/", ShardError::Unreadable),
        ("a/b", ShardError::Unreadable),
        ("-1/8", ShardError::Unreadable),
        ("2/8/9", ShardError::Unreadable),
        ("0/8", ShardError::Number(8)),
        ("9/8", ShardError::Number(8)),
        ("1/0", ShardError::Count),
        ("1/1000001", ShardError::Count),
    ] {
        assert_eq!(text.parse::<Shard>(), Err(error), "{text}");
    }
}

/// Which runs are whose must not change unnoticed: shards of before would no longer fit those of after.
#[test]
fn the_first_rounds_are_always_the_same() {
    assert_eq!(places(1, 3, 15), GOLDEN);
}

const GOLDEN: [u64; 5] = [1, 5, 6, 9, 14];
