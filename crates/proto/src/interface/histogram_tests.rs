use super::*;

#[test]
fn a_bound_belongs_to_the_range_below_it() {
    let mut histogram = DurationHistogram::default();
    histogram.record(Duration::ZERO);
    histogram.record(Duration::from_millis(1));
    histogram.record(Duration::from_millis(1) + Duration::from_nanos(1));
    histogram.record(Duration::MAX);
    let mut expected = [0; 17];
    (expected[0], expected[3], expected[4], expected[16]) = (1, 1, 1, 1);
    assert_eq!((histogram.counts(), histogram.count()), (&expected[..], 4));
    assert_eq!(histogram.sum(), Duration::MAX);
}

#[test]
fn histograms_add_up() {
    let mut one = DurationHistogram::default();
    one.record(Duration::from_millis(3));
    let mut other = one;
    other.record(Duration::from_secs(60));
    one.add(&other);
    assert_eq!((one.count(), one.counts()[5], one.counts()[16]), (3, 2, 1));
    assert_eq!(one.sum(), Duration::from_millis(60_006));
}
