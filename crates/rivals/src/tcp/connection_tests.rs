use super::*;

#[test]
fn sequence_numbers_wrap() {
    let first = u32::MAX - 5;
    assert_eq!(offset_near(first, 0, first.wrapping_add(1)), Some(0));
    assert_eq!(offset_near(first, 0, first), None);
    assert_eq!(offset_near(first, 3, 4), Some(9));
    let base = (1_u64 << 33) + 7;
    assert_eq!(offset_near(9, base, 10 + 7), Some(base));
    assert_eq!(offset_near(9, base, 10_u32.wrapping_sub(93)), Some(base - 100));
}
