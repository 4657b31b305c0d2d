use super::*;

#[test]
fn next_and_prev_wrap() {
    assert_eq!(Tsn(u32::MAX).next(), Tsn(0));
    assert_eq!(Tsn(0).prev(), Tsn(u32::MAX));
    assert_eq!(Ssn(u16::MAX).next(), Ssn(0));
    assert_eq!(Tsn(u32::MAX - 1).plus(3), Tsn(1));
    assert_eq!(Tsn(1).distance_from(Tsn(u32::MAX - 1)), 3);
}

#[test]
fn order_holds_across_the_wrap() {
    assert!(Tsn(u32::MAX).precedes(Tsn(0)));
    assert!(!Tsn(0).precedes(Tsn(u32::MAX)));
    assert!(Ssn(65_535).precedes(Ssn(3)));
    assert!(Tsn(7).at_or_before(Tsn(7)) && !Tsn(7).precedes(Tsn(7)));
}

/// RFC 1982 §3.2 leaves numbers half the space apart without an order.
#[test]
fn half_the_space_apart_has_no_order() {
    let (low, high) = (Tsn(5), Tsn(5).plus(0x8000_0000));
    assert!(!low.precedes(high) && !high.precedes(low));
    assert!(low.precedes(high.prev()) && high.prev().prev().precedes(high));
    let (low, high) = (Ssn(5), Ssn(5).plus(0x8000));
    assert!(!low.precedes(high) && !high.precedes(low));
    assert!(!low.at_or_before(high) && low.at_or_before(high.prev()));
}
