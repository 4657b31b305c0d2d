use super::*;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

const fn power(units: u64) -> ReceivedPower {
    ReceivedPower::from_attowatts(units)
}

/// What is received at `metres` from an antenna whose signal ends, at -90 dBm, 100 m from it.
fn received(metres: f64) -> ReceivedPower {
    let ratio = 100.0 / metres;
    ReceivedPower::from_dbm(-90.0).scaled(ratio * ratio * ratio * ratio)
}

const FLOOR: ReceivedPower = power(1_000_000);

#[test]
fn a_falling_signal_is_extrapolated() {
    let mut trend = Trend::default();
    for step in 0..=80 {
        trend.on_reading(at(25 * step), received(40.0 + 0.25 * step as f64));
    }
    // 60 m from it after 2 s, at 10 m/s.
    let left = trend.time_until(at(2000), FLOOR).unwrap();
    assert!(left.abs_diff(Duration::from_secs(4)) < Duration::from_millis(50), "{left:?}");
    let later = trend.time_until(at(3000), FLOOR).unwrap();
    assert!(later.abs_diff(Duration::from_secs(3)) < Duration::from_millis(50), "{later:?}");
    assert_eq!(trend.time_until(at(2000), received(50.0)), Some(Duration::ZERO), "below it already");
    assert_eq!(trend.time_until(at(6100), FLOOR), Some(Duration::ZERO), "over, as far as that can be told");
    assert_eq!(trend.time_until(at(12_001), FLOOR), None, "nothing has been told for long");
}

/// Near the antenna watts fall by orders of magnitude with each step, which says nothing of the edge.
#[test]
fn a_walk_that_begins_at_the_antenna_has_its_whole_way_before_it() {
    for metres_per_second in [1.0, 5.0, 20.0] {
        let mut trend = Trend::default();
        for step in 0..=1000_u64 {
            let walked = metres_per_second * step as f64 / 10.0;
            if walked > 99.0 {
                break;
            }
            trend.on_reading(at(100 * step), received(walked));
            let left = trend.time_until(at(100 * step), FLOOR).unwrap_or(Duration::MAX).as_secs_f64();
            let really = (100.0 - walked) / metres_per_second;
            assert!(
                left >= really * 0.98,
                "{metres_per_second} m/s, {walked} m: {left} s instead of {really}"
            );
            // It takes some readings to see how fast it goes.
            assert!(step < 50 || left <= really * 1.02, "{walked} m: {left} s instead of {really}");
        }
    }
}

/// In free space the power falls with the square of the distance.
#[test]
fn a_walk_in_free_space_does_not_end_at_once_either() {
    let mut trend = Trend::default();
    for step in 0..=180_u64 {
        let ratio = 100.0 / (1.0 + 0.5 * step as f64);
        trend.on_reading(at(100 * step), ReceivedPower::from_dbm(-90.0).scaled(ratio * ratio));
        let left = trend.time_until(at(100 * step), FLOOR).unwrap_or(Duration::MAX);
        let really = 19.8 - step as f64 / 10.0;
        assert!(left.as_secs_f64() > really / 5.0, "{step}: {left:?} instead of {really} s");
    }
}

/// One reading of nothing, of a card that was just scanning, say, is forgotten when the signal is back.
#[test]
fn a_reading_of_nothing_is_no_trend() {
    let mut trend = Trend::default();
    for step in 0..100 {
        trend.on_reading(at(100 * step), if step == 50 { ReceivedPower::NONE } else { received(50.0) });
        let left = trend.time_until(at(100 * step), FLOOR);
        assert!((left == Some(Duration::ZERO)) == (step == 50), "{step}: {left:?}");
        assert!(step <= 50 || left.is_none(), "{step}: {left:?}");
    }
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
