use super::*;

#[test]
fn arithmetic_saturates() {
    let t = Instant::from_nanos(5);
    assert_eq!(t - Duration::from_nanos(9), Instant::ZERO);
    assert_eq!(Instant::ZERO - t, Duration::ZERO);
    assert_eq!(Instant::FAR_FUTURE + Duration::MAX, Instant::FAR_FUTURE);
    assert_eq!(t + Duration::MAX, Instant::FAR_FUTURE);
}

#[test]
fn display_has_nanoseconds() {
    assert_eq!(Instant::from_nanos(1_500_000_007).to_string(), "1.500000007s");
}
