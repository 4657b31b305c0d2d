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
