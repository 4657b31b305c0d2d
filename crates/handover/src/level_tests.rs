use super::*;

#[test]
fn wavering_between_the_thresholds_changes_nothing() {
    let level = Hysteresis { low_below: 10, high_from: 20 };
    let mut high = false;
    let mut changes = 0;
    for value in [12, 19, 12, 20, 12, 19, 10, 11, 9, 19, 12, 21] {
        let now = level.is_high(high, &value);
        changes += u32::from(now != high);
        high = now;
    }
    assert!(high);
    assert_eq!(changes, 3, "up at 20, down at 9, up at 21");
}
