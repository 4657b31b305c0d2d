use super::*;

#[test]
fn streams_are_independent_and_repeatable() {
    let seed = Seed::from_u64(7);
    let a: Vec<u64> = {
        let mut r = seed.stream("loss", 0);
        (0..4).map(|_| r.next_u64()).collect()
    };
    let b: Vec<u64> = {
        let mut r = seed.stream("loss", 0);
        (0..4).map(|_| r.next_u64()).collect()
    };
    let c: Vec<u64> = {
        let mut r = seed.stream("loss", 1);
        (0..4).map(|_| r.next_u64()).collect()
    };
    let d: Vec<u64> = {
        let mut r = seed.stream("jitter", 0);
        (0..4).map(|_| r.next_u64()).collect()
    };
    assert_eq!(a, b);
    assert_ne!(a, c);
    assert_ne!(a, d);
    assert_ne!(seed.child("host", 0).stream("loss", 0).next_u64(), a[0]);
}

/// The stream is part of the project's promise (same seed, same bytes): a change of generator must be noticed.
#[test]
fn first_draw_is_pinned() {
    assert_eq!(Seed::from_u64(1).stream("tags", 0).next_u64(), PINNED);
}

const PINNED: u64 = 9_666_973_293_958_129_499;

#[test]
fn below_stays_below_and_reaches_the_ends() {
    let mut rng = Seed::from_u64(3).stream("x", 0);
    let mut seen = [false; 5];
    for _ in 0..1000 {
        seen[rng.below(5) as usize] = true;
    }
    assert_eq!(seen, [true; 5]);
    assert_eq!(rng.below(0), 0);
    assert!(!rng.chance(0.0));
    assert!(rng.chance(1.0));
}
