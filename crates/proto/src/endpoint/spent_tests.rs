use super::*;

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

const PORTS: Lookup = Lookup { local: 1, remote: 2 };

#[test]
fn a_spent_cookie_is_remembered_until_it_is_stale() {
    let mut spent = SpentCookies::default();
    spent.spend(at(1), 1, PORTS, at(60));
    spent.spend(at(60), 2, PORTS, at(120));
    let known = |spent: &SpentCookies, tag| spent.contains(at(0), tag, PORTS);
    assert!(known(&spent, 1) && known(&spent, 2) && !known(&spent, 3));
    spent.spend(at(61), 3, PORTS, at(121));
    assert!(!known(&spent, 1) && known(&spent, 2) && known(&spent, 3));
}

/// Of another peer, or made later for one that chooses the same tag again.
#[test]
fn other_cookies_are_not_spent() {
    let mut spent = SpentCookies::default();
    spent.spend(at(1), 1, PORTS, at(60));
    assert!(spent.contains(at(1), 1, PORTS));
    assert!(!spent.contains(at(2), 1, PORTS));
    assert!(!spent.contains(at(1), 1, Lookup { remote: 3, ..PORTS }));
}

#[test]
fn a_cookie_that_is_spent_twice_takes_one_entry() {
    let mut spent = SpentCookies::default();
    spent.spend(at(0), 1, PORTS, at(60));
    spent.spend(at(1), 1, PORTS, at(60));
    assert_eq!((spent.order.len(), spent.peers.len()), (1, 1));
}

/// A peer that has chosen the same tag for two associations: the second one's cookies are remembered for their own time.
#[test]
fn a_tag_that_is_used_again_is_remembered_again() {
    let mut spent = SpentCookies::default();
    spent.spend(at(0), 1, PORTS, at(60));
    spent.spend(at(59), 1, PORTS, at(119));
    spent.spend(at(61), 2, PORTS, at(121));
    assert!(spent.contains(at(58), 1, PORTS));
    spent.spend(at(120), 3, PORTS, at(180));
    assert!(!spent.contains(at(58), 1, PORTS));
}

#[test]
fn the_memory_is_bounded() {
    let mut spent = SpentCookies::default();
    for tag in 0..=MAX_SPENT as u32 {
        spent.spend(at(0), tag, PORTS, at(60));
    }
    assert_eq!((spent.order.len(), spent.peers.len()), (MAX_SPENT, MAX_SPENT));
    assert!(!spent.contains(at(0), 0, PORTS) && spent.contains(at(0), MAX_SPENT as u32, PORTS));
}
