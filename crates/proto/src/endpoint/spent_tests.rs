use super::*;

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

#[test]
fn a_spent_cookie_is_remembered_until_it_is_stale() {
    let mut spent = SpentCookies::default();
    spent.spend(at(0), 1, at(60));
    spent.spend(at(60), 2, at(120));
    assert!(spent.contains(1) && spent.contains(2) && !spent.contains(3));
    spent.spend(at(61), 3, at(121));
    assert!(!spent.contains(1) && spent.contains(2) && spent.contains(3));
}

#[test]
fn a_cookie_that_is_spent_twice_takes_one_entry() {
    let mut spent = SpentCookies::default();
    spent.spend(at(0), 1, at(60));
    spent.spend(at(1), 1, at(60));
    assert_eq!((spent.order.len(), spent.tags.len()), (1, 1));
}

#[test]
fn the_memory_is_bounded() {
    let mut spent = SpentCookies::default();
    for tag in 0..=MAX_SPENT as u32 {
        spent.spend(at(0), tag, at(60));
    }
    assert_eq!((spent.order.len(), spent.tags.len()), (MAX_SPENT, MAX_SPENT));
    assert!(!spent.contains(0) && spent.contains(MAX_SPENT as u32));
}
