use super::*;

#[test]
fn watts_and_decibels_agree() {
    assert_eq!(ReceivedPower::from_dbm(-120.0), ReceivedPower::from_attowatts(1000));
    assert_eq!(ReceivedPower::from_watts(1e-9), ReceivedPower::from_dbm(-60.0));
    assert!((ReceivedPower::from_watts(3.794e-10).dbm() + 64.209).abs() < 0.001);
    assert_eq!(ReceivedPower::from_watts(3.794e-10).to_string(), "-64.2 dBm");
}

/// Forged or broken readings must not fail.
#[test]
fn nonsense_is_no_signal_or_the_strongest_there_is() {
    assert_eq!(ReceivedPower::from_watts(f64::NAN), ReceivedPower::NONE);
    assert_eq!(ReceivedPower::from_watts(-1.0), ReceivedPower::NONE);
    assert_eq!(ReceivedPower::from_dbm(f64::NEG_INFINITY), ReceivedPower::NONE);
    assert_eq!(ReceivedPower::from_dbm(1e9), ReceivedPower::from_attowatts(u64::MAX));
    assert_eq!(ReceivedPower::NONE.scaled(f64::INFINITY), ReceivedPower::NONE);
}
