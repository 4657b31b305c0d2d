use super::*;

fn shards(count: u32) -> Vec<Shard> {
    Shard::all(NonZeroU32::new(count).expect("more than none")).collect()
}

#[test]
fn a_tag_names_its_shard() {
    for count in [1, 2, 3, 7, 64] {
        for shard in shards(count) {
            for random in [0, 1, 2, 100, 4_000_000_000, u32::MAX - 1, u32::MAX] {
                for owner in 0..count {
                    let tag = shard.tag(random, owner);
                    assert!(tag.is_none_or(|tag| tag != 0 && shard.of_tag(tag) == owner), "{tag:?}");
                }
            }
        }
    }
    // The last block of three ends beyond the last number.
    assert_eq!(shards(7)[0].tag(u32::MAX, 6), None);
}

#[test]
fn an_endpoint_of_one_shard_has_any_tag_but_zero() {
    let alone = Shard::alone();
    assert_eq!(alone.tag(0, 0), None);
    assert!([1, 77, u32::MAX].iter().all(|&random| alone.tag(random, 0) == Some(random)));
}

#[test]
fn no_two_shards_give_the_same_number() {
    let numbers: std::collections::BTreeSet<_> =
        shards(3).iter().flat_map(|shard| (0..10).map(|own| shard.unique(own))).collect();
    assert_eq!(numbers, (0..30).collect());
}
