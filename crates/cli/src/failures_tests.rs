use super::*;

/// Whoever may send may have files fail for ever.
#[test]
fn failures_of_others_are_not_listed_without_end() {
    let start = Instant::now();
    let mut failures = Failures::new(start);
    let listed = |failures: &mut Failures, now| (0..1000).filter(|_| failures.admit(now).is_some()).count();
    assert_eq!(listed(&mut failures, start), LISTED as usize);
    let later = start + 3 * AGAIN;
    assert_eq!(failures.admit(later), Some(1000 - u64::from(LISTED)), "how many were not is told");
    assert_eq!(listed(&mut failures, later), 2);
    assert_eq!(listed(&mut failures, start + 1000 * AGAIN), LISTED as usize);
}
