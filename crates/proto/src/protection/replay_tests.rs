use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Takes it if it is new; whether it was.
fn offer(window: &mut ReplayWindow, number: u64) -> bool {
    let new = window.is_new(number);
    if new {
        window.take(number);
    }
    new
}

proptest! {
    #[test]
    fn nothing_is_taken_twice_and_what_is_not_old_once(jumps in proptest::collection::vec(-40_000_i64..40_000, 1..400)) {
        let (mut window, mut taken, mut at) = (ReplayWindow::default(), BTreeSet::new(), 0_u64);
        for jump in jumps {
            at = at.saturating_add_signed(jump);
            let highest = taken.last().copied().unwrap_or_default();
            let new = offer(&mut window, at);
            prop_assert!(!(new && taken.contains(&at)), "{at} twice");
            prop_assert!(new || taken.contains(&at) || at + MOST <= highest + 1, "{at} refused, highest {highest}");
            if new {
                taken.insert(at);
            }
        }
    }
}

/// A second path is 20,000 packets behind from its first packet on.
#[test]
fn paths_may_differ_at_once() {
    let mut window = ReplayWindow::default();
    for number in 10_000..30_000 {
        assert!(offer(&mut window, number));
    }
    for number in 0..10_000 {
        assert!(offer(&mut window, number + 30_000) && offer(&mut window, number), "{number}");
        assert!(!offer(&mut window, number), "{number} again");
    }
    assert_eq!(window.len(), MOST);
}

#[test]
fn a_jump_forgets_nothing_that_it_should_know() {
    let mut window = ReplayWindow::default();
    assert!(offer(&mut window, 5));
    assert!(offer(&mut window, 1_000_000));
    assert!(!offer(&mut window, 5), "too old");
    assert!(offer(&mut window, 999_999));
    assert!(!offer(&mut window, 999_999));
    assert!(!offer(&mut window, 1_000_000));
    assert!(offer(&mut window, 1_000_001 - MOST));
}
