use whimbrel_machine::{InterfaceKind::WirelessLan, TwoRayGround};

use super::*;
use crate::Action;
use crate::testing::{Model, Peer, about, ip, seconds};

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

fn six(n: u16) -> std::net::SocketAddr {
    std::net::SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, n], 9899))
}

/// An interface has an IPv4 and an IPv6 address: neither takes the place of the other.
#[test]
fn an_ipv6_address_does_not_drive_out_the_ipv4_address_of_its_interface() {
    let policy = SignalStrength::policy(thresholds(), LayerTwoHandover::Soft, Pace::AT_ONCE);
    let mut model = Model::new(policy, &[(1, WirelessLan), (2, WirelessLan)]);
    let come_up = |model: &mut Model<_>| {
        model.link(LinkFact::AddressOn { interface: InterfaceId(2), address: six(1).ip() });
        model.link(LinkFact::AddressUp(six(1)));
        model.wait(seconds(1.0));
    };
    come_up(&mut model);
    assert_eq!(model.actions(), [], "of no use to a peer without");
    model.link(LinkFact::AddressDown(six(1)));
    model.remotes.push(six(2));
    model.peer = Peer::Silent;
    come_up(&mut model);
    // The table knows the interface by its IPv4 address.
    assert_eq!(model.actions(), [Action::AddAddress(six(1))]);
    receive(&mut model, 1, 100.0);
    receive(&mut model, 2, 301.0);
    model.wait(seconds(1.0));
    assert_eq!(model.actions()[1..], [Action::DeleteAddress(ip(2))], "when it cannot be heard any more");
}

/// At a pace for users a weak signal is no emergency, a lost one is.
#[test]
fn a_weak_signal_is_left_when_that_has_settled_and_a_lost_one_at_once() {
    let policy = || SignalStrength::policy(thresholds(), LayerTwoHandover::Soft, Pace::MOBILE);
    let mut model = Model::new(policy(), &[(1, WirelessLan), (2, WirelessLan)]);
    receive(&mut model, 1, 200.0);
    receive(&mut model, 2, 100.0);
    receive(&mut model, 1, 298.0);
    model.wait(seconds(0.4));
    assert_eq!(model.primary(), Some(ip(1)));
    model.wait(seconds(0.2));
    assert_eq!(model.primary(), Some(ip(2)));
    let mut model = Model::new(policy(), &[(1, WirelessLan), (2, WirelessLan)]);
    receive(&mut model, 1, 200.0);
    receive(&mut model, 2, 100.0);
    receive(&mut model, 1, 301.0);
    assert_eq!(model.primary(), Some(ip(2)));
}
