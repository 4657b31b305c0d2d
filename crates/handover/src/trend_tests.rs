use super::*;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

const fn power(units: u64) -> ReceivedPower {
    ReceivedPower::from_attowatts(units)
}

#[test]
fn a_falling_signal_is_extrapolated() {
    let mut trend = Trend::default();
    for step in 0..77 {
        trend.on_reading(at(25 * step), power(10_000 - 25 * step));
    }
    // 8,100 left at 1.9 s, 1,000 per second.
    let left = trend.time_until(at(1900), power(5_100)).unwrap();
    assert!(left.abs_diff(Duration::from_secs(3)) < Duration::from_millis(50), "{left:?}");
    let later = trend.time_until(at(2900), power(5_100)).unwrap();
    assert!(later.abs_diff(Duration::from_secs(2)) < Duration::from_millis(50), "{later:?}");
    assert_eq!(trend.time_until(at(1900), power(9_000)), Some(Duration::ZERO), "below it already");
}

#[test]
fn a_rising_or_steady_signal_never_gets_there() {
    let mut trend = Trend::default();
    assert_eq!(trend.time_until(at(0), power(1)), None);
    trend.on_reading(at(0), power(100));
    assert_eq!(trend.time_until(at(0), power(1)), None);
    trend.on_reading(at(100), power(200));
    assert_eq!(trend.time_until(at(100), power(1)), None);
}

/// Two readings at almost the same time would make a trend of their noise.
#[test]
fn readings_at_the_same_time_are_no_trend() {
    let mut trend = Trend::default();
    trend.on_reading(at(0), power(100));
    trend.on_reading(at(0), power(10));
    trend.on_reading(at(1), power(1));
    assert_eq!(trend.time_until(at(1), power(1)), None);
}
