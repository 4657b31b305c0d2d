use whimbrel_machine::InterfaceKind::WirelessLan;

use super::*;
use crate::Action;
use crate::testing::{Model, about, ip, seconds};

/// c04 section 3.2.
fn thresholds() -> Thresholds {
    Thresholds {
        reception: ReceivedPower::from_watts(3.6526e-10),
        primary: ReceivedPower::from_watts(3.794e-10),
    }
}

fn cell() -> Model<Governed<SignalStrength>> {
    let policy = SignalStrength::policy(thresholds(), LayerTwoHandover::Soft, Pace::AT_ONCE);
    let mut model = Model::new(policy, &[(1, WirelessLan)]);
    receive(&mut model, 1, 100.0);
    model
}

/// A reading at `distance` metres from an access point that is heard for 300 m.
fn receive(model: &mut Model<Governed<SignalStrength>>, n: u8, distance: f64) {
    let radio = TwoRayGround {
        transmit_power: 0.584_42,
        transmit_gain: 1.0,
        receive_gain: 1.0,
        transmit_height: 1.5,
        receive_height: 1.5,
        loss: 1.0,
    };
    model.link(about(n, InterfaceFact::Signal(radio.received(distance))));
}

/// From one access point to another 520 m away, 1 m per reading.
#[test]
fn a_walk_from_cell_to_cell() {
    let mut model = cell();
    let mut moved_at = None;
    let mut deleted_at = None;
    for x in 100..420 {
        receive(&mut model, 1, f64::from(x));
        receive(&mut model, 2, f64::from(520 - x));
        if x == 230 {
            model.up(2, WirelessLan);
            assert!(model.knows(2), "added as soon as it is complete");
        }
        model.wait(seconds(0.1));
        model.answer();
        if moved_at.is_none() && model.primary() == Some(ip(2)) {
            moved_at = Some(x);
        }
        if deleted_at.is_none() && x > 290 && !model.knows(1) {
            deleted_at = Some(x);
        }
    }
    // Primary-TH is crossed at 297.17 m, L2-TH at 300 m.
    assert_eq!(moved_at, Some(298));
    assert_eq!(deleted_at, Some(301));
    let actions = model.actions();
    assert!(matches!(
        actions[..],
        [Action::AddAddress(_), Action::UsePath(_), Action::AskPrimary(_), Action::DeleteAddress(_)]
    ));
}

/// c04 section 3.2: to and fro between 226 and 294 m, short of both thresholds.
#[test]
fn ping_pong_in_the_overlap() {
    let mut model = cell();
    receive(&mut model, 1, 226.0);
    model.up(2, WirelessLan);
    for round in 0..20 {
        for step in 0..68 {
            let x = 226.0 + f64::from(if round % 2 == 0 { step } else { 68 - step });
            receive(&mut model, 1, x);
            receive(&mut model, 2, 520.0 - x);
            model.wait(seconds(0.1));
        }
    }
    assert_eq!(model.moves(), []);
}

/// The one that is left and the one that is not yet there: deletion waits for the replacement.
#[test]
fn out_of_coverage_before_the_next_one_is_ready() {
    let mut model = cell();
    receive(&mut model, 1, 301.0);
    model.wait(seconds(1.0));
    assert!(model.knows(1), "postponed");
    receive(&mut model, 2, 200.0);
    model.up(2, WirelessLan);
    model.wait(seconds(1.0));
    assert_eq!(model.primary(), Some(ip(2)));
    assert!(!model.knows(1));
}
