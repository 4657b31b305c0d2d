use super::*;

fn radio(transmit_power: f64) -> TwoRayGround {
    TwoRayGround {
        transmit_power,
        transmit_gain: 1.0,
        receive_gain: 1.0,
        transmit_height: 1.5,
        receive_height: 1.5,
        loss: 1.0,
    }
}

/// c04 formula 1 by hand: 0.5 W over 100 m with antennas at 1.5 m is 0.5 · 1.5⁴ / 100⁴ = 2.53125e-8 W.
#[test]
fn power_falls_with_the_fourth_power_of_distance() {
    assert_eq!(radio(0.5).received(100.0), ReceivedPower::from_watts(2.531_25e-8));
    assert_eq!(radio(0.5).received(200.0), ReceivedPower::from_watts(2.531_25e-8 / 16.0));
    assert_eq!(radio(1.0).received(100.0), ReceivedPower::from_watts(2.0 * 2.531_25e-8));
}

/// A gain counts once, a height squared, a system loss divides.
#[test]
fn every_term_counts_as_in_the_formula() {
    let plain = radio(1.0);
    let at = |radio: TwoRayGround| radio.received(100.0).watts() / plain.received(100.0).watts();
    assert_eq!(at(TwoRayGround { transmit_gain: 2.0, ..plain }), 2.0);
    assert_eq!(at(TwoRayGround { receive_gain: 2.0, ..plain }), 2.0);
    assert_eq!(at(TwoRayGround { transmit_height: 3.0, ..plain }), 4.0);
    assert_eq!(at(TwoRayGround { receive_height: 3.0, ..plain }), 4.0);
    assert_eq!(at(TwoRayGround { loss: 2.0, ..plain }), 0.5);
}
