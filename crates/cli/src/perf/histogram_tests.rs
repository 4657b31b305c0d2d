use super::*;

#[test]
fn quantiles_are_right_to_three_percent() {
    let mut histogram = Histogram::new();
    for micros in 1..=10_000_u64 {
        histogram.record(Duration::from_micros(micros));
    }
    for (quantile, micros) in [(0.5, 5000.0), (0.9, 9000.0), (0.99, 9900.0)] {
        let got = histogram.quantile(quantile).as_secs_f64() * 1e6;
        assert!((got / micros - 1.0).abs() < 0.03, "{quantile}: {got}");
    }
    assert_eq!(histogram.quantile(1.0), Duration::from_millis(10));
    assert_eq!((histogram.min(), histogram.count()), (Duration::from_micros(1), 10_000));
    assert_eq!(histogram.mean(), Duration::from_nanos(5_000_500));
}

#[test]
fn extremes_have_a_place() {
    let mut histogram = Histogram::new();
    assert_eq!(histogram.quantile(0.5), Duration::ZERO);
    histogram.record(Duration::ZERO);
    histogram.record(Duration::MAX);
    assert_eq!(histogram.count(), 2);
}
