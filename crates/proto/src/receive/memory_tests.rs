use super::*;

/// Takes for each share in turn what it may, until nobody may take more.
fn fill(shares: &mut [Share]) {
    loop {
        let mut taken = false;
        for share in &mut *shares {
            if share.admits(1000, 0) {
                share.set(share.held + 1000);
                taken = true;
            }
        }
        if !taken {
            return;
        }
    }
}

#[test]
fn who_wants_all_gets_an_equal_part_and_one_part_is_left() {
    for count in [1, 2, 9, 99] {
        let memory = Memory::new(100_000_000, 0);
        let mut shares: Vec<_> = (0..count).map(|_| Share::new(memory.clone())).collect();
        fill(&mut shares);
        let part = 100_000_000 / (count + 1);
        for share in &shares {
            assert!(share.held.abs_diff(part) <= 2000, "{} of {part}", share.held);
        }
        // Who comes late finds room.
        assert!(memory.offer(usize::MAX / 2) as usize >= part / 2 - 1000);
        drop(shares);
        assert_eq!(memory.used(), 0);
    }
}

/// A hog that was there first gives nothing back by itself, but takes no more.
#[test]
fn who_came_first_gets_no_more_when_others_come() {
    let memory = Memory::new(1_000_000, 0);
    let mut hog = Share::new(memory.clone());
    fill(core::slice::from_mut(&mut hog));
    assert!((498_000..=500_000).contains(&hog.held));
    let mut late = Share::new(memory.clone());
    fill(core::slice::from_mut(&mut late));
    assert!((248_000..=251_000).contains(&late.held));
    assert!(!hog.admits(1, 0) && hog.left() == 0);
    assert!(!memory.is_short());
    hog.set(100_000);
    assert!(hog.admits(1000, 0));
}

#[test]
fn an_empty_share_takes_what_there_is_and_never_more() {
    let memory = Memory::new(10_000, 0);
    let mut one = Share::new(memory.clone());
    assert!(one.admits(10_000, 0) && !one.admits(10_001, 0));
    one.set(9_000);
    let two = Share::new(memory.clone());
    assert!(two.admits(1_000, 0) && !two.admits(1_001, 0));
    assert!(!one.admits(1, 0), "the rest is for others");
    assert!(one.admits(9_500, 9_000), "in place of all it holds");
    assert!(memory.is_short() && !memory.is_ample());
    assert_eq!((memory.offer(1 << 20), Memory::new(10_000, 0).offer(1 << 20)), (1500, 5000));
}

/// Whose turn it is takes what the others have left no room for, and only from the reserve.
#[test]
fn whose_turn_it_is_takes_from_the_reserve() {
    let memory = Memory::new(1_000_000, 300_000);
    let mut shares: Vec<_> = (0..9).map(|_| Share::new(memory.clone())).collect();
    fill(&mut shares);
    let used = memory.used();
    shares.iter_mut().for_each(Share::wait);
    assert!(memory.is_waited_for());
    shares[0].begin_turn();
    fill(&mut shares[..1]);
    assert_eq!((memory.lent(), memory.used()), (300_000, used), "nothing is taken from what is shared");
    assert!(!shares[1].admits(1000, 0) && memory.offer(1 << 20) > 40_000);
    // Others leave room for some of it.
    shares[0].go_on();
    shares[0].end_turn(true);
    shares.truncate(6);
    assert!(!shares[0].admits(1, 0) && memory.lent() == 300_000);
    // What is released is paid back first.
    let held = shares[0].held;
    shares[0].set(held - 100_000);
    assert_eq!((memory.lent(), shares[0].claim().map(|claim| claim.lost)), (200_000, Some(1)));
    shares.truncate(1);
    shares[0].set(held - 100_001);
    assert_eq!((memory.lent(), memory.used()), (0, held - 100_001), "its share has room for it again");
    drop(shares);
    assert_eq!((memory.used(), memory.lent(), memory.is_waited_for()), (0, 0, false));
}

#[test]
fn who_ends_while_it_has_the_turn_leaves_nothing() {
    let memory = Memory::new(10_000, 5_000);
    let mut shares: Vec<_> = (0..3).map(|_| Share::new(memory.clone())).collect();
    fill(&mut shares);
    shares.iter_mut().for_each(Share::wait);
    shares[1].begin_turn();
    fill(&mut shares[1..2]);
    assert_eq!(memory.lent(), 5_000);
    drop(shares);
    assert_eq!((memory.used(), memory.lent(), memory.is_waited_for()), (0, 0, false));
}
