use super::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn rto(min: Duration) -> Rto {
    Rto::new(RtoConfig { min, ..RtoConfig::default() })
}

/// RFC 6298 §2.2 and §2.3, by hand.
#[test]
fn measurements_are_smoothed() {
    let mut rto = rto(ms(1));
    assert_eq!(rto.value(), ms(1000));
    rto.on_measurement(ms(100));
    assert_eq!((rto.srtt(), rto.value()), (Some(ms(100)), ms(100 + 4 * 50)));
    rto.on_measurement(ms(180));
    // RTTVAR = 3/4·50 + 1/4·80 = 57.5, SRTT = 110.
    assert_eq!((rto.srtt(), rto.value()), (Some(ms(110)), ms(110 + 4 * 57 + 2)));
}

#[test]
fn it_backs_off_until_it_is_measured_again() {
    let mut rto = rto(ms(200));
    rto.on_measurement(ms(20));
    assert_eq!(rto.value(), ms(200), "RTO.min");
    for doubled in [400, 800, 1600] {
        rto.back_off();
        assert_eq!(rto.value(), ms(doubled));
    }
    for _ in 0..10 {
        rto.back_off();
    }
    assert_eq!(rto.value(), ms(60_000), "at most the maximum");
    rto.on_measurement(ms(20));
    assert_eq!(rto.value(), ms(200));
}
