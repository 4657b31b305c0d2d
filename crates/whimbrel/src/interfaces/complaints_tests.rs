use super::*;

#[test]
fn a_flood_becomes_a_trickle_that_says_how_much_there_was() {
    let mut now = Instant::now();
    let mut complaints = Complaints::new(now);
    let mut passed = Vec::new();
    for line in 0..100_000 {
        now += Duration::from_micros(100);
        passed.extend(complaints.admit(now, format!("line {line}: nonsense")));
    }
    // Ten seconds.
    assert_eq!(passed.len(), BURST as usize + 10, "{passed:?}");
    assert_eq!(passed[1], "line 1: nonsense");
    assert!(passed.last().unwrap().ends_with("nonsense (9999 others before it are left out)"), "{passed:?}");
    // After a pause the source is heard as before.
    now += 100 * EVERY;
    let again = (0..1000).filter(|_| complaints.admit(now, "nonsense".into()).is_some()).count();
    assert_eq!(again, BURST as usize);
}
