use super::*;

#[test]
fn peaks_and_dips_survive_and_memory_is_bounded() {
    let mut series = Series::default();
    for at in 0..1_000_000_u32 {
        let value = match at {
            123_456 => 900.0,
            654_321 => -900.0,
            _ => f64::from(at % 7),
        };
        series.push(f64::from(at), value);
    }
    assert!(series.points().len() <= POINTS_MAX);
    assert!(series.points().contains(&(123_456.0, 900.0)) && series.points().contains(&(654_321.0, -900.0)));
    assert!(series.points().is_sorted_by(|a, b| a.0 <= b.0));
    assert_eq!((series.range(), series.last()), (Some((-900.0, 900.0)), Some(f64::from(999_999 % 7))));
}
