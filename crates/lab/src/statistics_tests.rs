use super::*;

#[test]
fn quantiles_are_those_of_the_tables() {
    let table = [
        (1, 12.706),
        (5, 2.571),
        (10, 2.228),
        (11, 2.201),
        (15, 2.131),
        (29, 2.045),
        (39, 2.023),
        (120, 1.980),
    ];
    for (degrees, expected) in table {
        assert!((t_quantile(degrees) - expected).abs() < 6e-4, "{degrees}: {}", t_quantile(degrees));
    }
}

#[test]
fn a_mean_has_its_interval() {
    let estimate = Estimate::of([1.0, 2.0, 3.0, f64::NAN]).unwrap();
    assert_eq!((estimate.count, estimate.mean), (3, 2.0));
    assert!((estimate.half_width - 4.302_65 / 3.0_f64.sqrt()).abs() < 1e-6);
    assert_eq!(Estimate::of([7.0]), Some(Estimate { count: 1, mean: 7.0, half_width: 0.0 }));
    assert_eq!(Estimate::of([f64::NAN]), None);
}

/// Three times the same number has a mean that is off by its last digit.
#[test]
fn what_arithmetic_rounds_is_no_interval() {
    let third = 0.1151;
    let estimate = Estimate::of([third, third, third]).unwrap();
    assert_eq!(estimate.half_width, 0.0, "{estimate:?}");
    let rounded = Estimate::of([third, third * (1.0 + 1e-15), third]).unwrap();
    assert_eq!(rounded.half_width, 0.0, "{rounded:?}");
    assert!(Estimate::of([third, third * (1.0 + 1e-6), third]).unwrap().half_width > 0.0);
    assert!(Estimate::of([-1e-15, 1e-15]).unwrap().half_width > 0.0, "small as the values are");
}

#[test]
fn half_of_the_values_are_on_either_side_of_the_median() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[1.0, 2.0, 100.0]), Some(2.0));
    assert_eq!(median(&[1.0, 2.0, 4.0, 100.0]), Some(3.0));
}

/// For 40 values the sign test has the 14th and the 27th (Conover, Practical Nonparametric Statistics, 3.2).
#[test]
fn the_interval_of_the_median_does_not_hang_on_the_extreme_values() {
    let mut values: Vec<f64> = (1..=40).map(f64::from).collect();
    let before = median_interval(&values).unwrap();
    assert!((13.0..=14.0).contains(&before.0) && (27.0..=28.0).contains(&before.1), "{before:?}");
    values[39] = 1e9;
    assert_eq!(median_interval(&values), Some(before));
    assert_eq!(median_interval(&[]), None);
    assert_eq!(median_interval(&[1.0]), Some((1.0, 1.0)));
    assert_eq!(median_interval(&[1.0, 2.0, 9.0]), Some((1.0, 9.0)));
}
