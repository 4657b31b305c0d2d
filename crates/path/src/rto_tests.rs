use super::*;

use proptest::prelude::*;

fn config(initial: u64, min: u64, max: u64) -> RtoConfig {
    RtoConfig {
        initial: Duration::from_millis(initial),
        min: Duration::from_millis(min),
        max: Duration::from_millis(max),
        granularity: Duration::from_nanos(1),
        first: FirstMeasurement::Smoothed,
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn rttvar(rto: &Rto) -> Option<Duration> {
    rto.smoothed.map(|smoothed| Duration::from_nanos(smoothed.rttvar))
}

/// RFC 9260 §6.3.1 C1 to C3.
#[test]
fn first_and_second_measurement_follow_the_formulas() {
    let mut rto = Rto::new(&config(1000, 10, 60_000));
    assert_eq!((rto.current(), rto.srtt()), (ms(1000), None));
    rto.on_measurement(ms(100));
    assert_eq!((rto.srtt(), rttvar(&rto), rto.current()), (Some(ms(100)), Some(ms(50)), ms(300)));
    rto.on_measurement(ms(180));
    // RTTVAR = 3/4·50 + 1/4·80, with the SRTT from before; SRTT = 7/8·100 + 1/8·180.
    assert_eq!(rttvar(&rto), Some(Duration::from_micros(57_500)));
    assert_eq!(rto.srtt(), Some(ms(110)));
    assert_eq!(rto.current(), ms(110 + 230));
}

/// The first packet found the link-layer address first, at either end.
#[test]
fn a_first_measurement_that_is_too_long_is_forgotten() {
    let config = RtoConfig { first: FirstMeasurement::Superseded, ..config(1000, 10, 60_000) };
    let mut rto = Rto::new(&config);
    for round_trip in [720, 480, 240] {
        rto.on_measurement(ms(round_trip));
        assert_eq!((rto.srtt(), rttvar(&rto)), (Some(ms(round_trip)), Some(ms(round_trip / 2))));
    }
    rto.on_measurement(ms(240));
    assert_eq!((rto.srtt(), rttvar(&rto)), (Some(ms(240)), Some(ms(90))));
    // There are two now.
    rto.on_measurement(ms(80));
    assert_eq!(rto.srtt(), Some(ms(220)));

    let mut rto = Rto::new(&config);
    rto.on_measurement(ms(100));
    rto.on_measurement(ms(75));
    assert_eq!(rto.srtt(), Some(Duration::from_micros(96_875)), "shorter by no more than a quarter");
}

/// RFC 9260 §6.3.1 C6, C7.
#[test]
fn minimum_and_maximum_hold() {
    let mut rto = Rto::new(&config(500, 200, 10_000));
    rto.on_measurement(ms(1));
    assert_eq!(rto.current(), ms(200));
    rto.on_measurement(Duration::from_secs(3600));
    assert_eq!(rto.current(), ms(10_000));
}

/// The series behind every failover time: RTO·2^i, cut at RTO.Max (RFC 9260 §6.3.3 E2).
#[test]
fn backing_off_doubles_and_a_measurement_ends_it() {
    let mut rto = Rto::new(&config(1000, 1000, 60_000));
    let seen: Vec<u64> = (0..8)
        .map(|_| {
            let now = rto.current().as_secs();
            rto.back_off();
            now
        })
        .collect();
    assert_eq!(seen, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(rto.without_back_off(), ms(1000));
    rto.on_measurement(ms(10));
    assert_eq!(rto.current(), ms(1000));
}

/// RFC 9260 §6.3.1 G1: even on a path without any variation RTTVAR stays above zero.
#[test]
fn variation_never_reaches_zero() {
    let mut rto = Rto::new(&RtoConfig { min: Duration::from_nanos(1), ..config(1000, 1, 60_000) });
    for _ in 0..200 {
        rto.on_measurement(ms(40));
    }
    assert_eq!(rttvar(&rto), Some(Duration::from_nanos(1)));
    assert_eq!(rto.current(), ms(40) + Duration::from_nanos(4));
}

/// RFC 9260 §6.3.1: RTTVAR is never below the clock granularity, however coarse that is.
#[test]
fn variation_never_falls_below_the_granularity() {
    let mut rto = Rto::new(&RtoConfig { granularity: ms(1), ..config(1000, 1, 60_000) });
    for _ in 0..200 {
        rto.on_measurement(ms(40));
    }
    assert_eq!((rttvar(&rto), rto.current()), (Some(ms(1)), ms(44)));
}

/// What lay with a suspended host for ten seconds is acknowledged before or after the path counts as working again.
#[test]
fn an_outage_is_no_round_trip() {
    let superseding = RtoConfig { first: FirstMeasurement::Superseded, ..config(500, 200, 60_000) };
    for late_after_return in [false, true] {
        let mut rto = Rto::new(&superseding);
        (0..20).for_each(|_| rto.on_measurement(ms(20)));
        if late_after_return {
            rto.on_return();
        }
        rto.on_measurement(ms(10_000));
        assert!(rto.current() > ms(5_000));
        if !late_after_return {
            rto.on_return();
        }
        rto.on_measurement(ms(20));
        assert_eq!((rto.srtt(), rto.current()), (Some(ms(20)), ms(200)));
    }
}

proptest! {
    /// No sequence of events leaves the bounds or overflows.
    #[test]
    fn stays_between_the_bounds(events in proptest::collection::vec(proptest::option::of(any::<u64>()), 0..200)) {
        let mut rto = Rto::new(&config(500, 200, 10_000));
        for event in events {
            let before = rto.current();
            match event {
                Some(rtt) => rto.on_measurement(Duration::from_nanos(rtt)),
                None => {
                    rto.back_off();
                    prop_assert!(rto.current() >= before);
                }
            }
            prop_assert!(rto.current() >= ms(200) && rto.current() <= ms(10_000));
        }
    }
}
