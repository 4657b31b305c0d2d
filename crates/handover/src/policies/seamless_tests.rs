use whimbrel_machine::InterfaceKind::{Cellular, Wired, WirelessLan};
use whimbrel_proto::PathState;

use super::*;
use crate::testing::{Model, about, ip, seconds};

fn phone() -> Model<Governed<Seamless>> {
    Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular)])
}

#[test]
fn every_address_is_added_at_once() {
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan)]);
    model.up(2, Cellular);
    assert!(model.knows(2));
    assert_eq!(model.primary(), Some(ip(1)));
}

#[test]
fn it_moves_before_the_loss_when_the_layer_below_warns() {
    let mut model = phone();
    model.link(about(1, InterfaceFact::GoingDown));
    assert_eq!(model.primary(), Some(ip(2)));
    model.answer();
    assert_eq!(model.peer_sends_to, Some(ip(2)), "both directions");
    assert_eq!(model.log[0].1.reason, Reason::GoingDown);
}

/// Half a decibel each 100 ms: it is at −82 dBm after 4.4 s, and has left a second before at the latest.
#[test]
fn it_moves_before_the_loss_when_the_signal_falls() {
    let mut model = phone();
    let mut left = None;
    for step in 0..44 {
        model.signal(1, -60.0 - 0.5 * f64::from(step));
        if left.is_none() && model.primary() == Some(ip(2)) {
            left = Some(step);
        }
        model.wait(seconds(0.1));
    }
    let left = left.expect("it has left");
    assert!((10..=38).contains(&left), "{left}");
    assert_eq!(model.moves().len(), 1);
}

#[test]
fn a_steady_signal_or_its_noise_moves_nothing() {
    let mut model = phone();
    for step in 0..600 {
        model.signal(1, if step % 2 == 0 { -64.0 } else { -65.0 });
        model.wait(seconds(0.1));
    }
    assert_eq!(model.moves(), []);
}

/// Around the threshold: away once, and not back before it is clearly better.
#[test]
fn a_signal_that_wavers_around_the_threshold_causes_one_move() {
    let mut model = phone();
    for step in 0..600 {
        model.signal(1, if step % 20 < 10 { -80.0 } else { -84.0 });
        model.wait(seconds(0.1));
    }
    assert_eq!(model.moves().len(), 1);
    model.signal(1, -70.0);
    model.wait(seconds(10.0));
    assert_eq!(model.primary(), Some(ip(1)), "it is good again");
}

#[test]
fn it_moves_at_the_first_evidence_when_nothing_warns() {
    let mut model = phone();
    model.path(1, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::PathFailed);
}

#[test]
fn it_returns_when_the_preferred_network_has_proved_itself() {
    let mut model = phone();
    model.down(1);
    model.wait(seconds(20.0));
    model.up(1, WirelessLan);
    assert_eq!(model.primary(), Some(ip(2)));
    model.wait(seconds(1.0));
    assert_eq!(model.primary(), Some(ip(1)));
    assert_eq!(model.peer_sends_to, Some(ip(1)));
}

/// A link that goes up and down every second: the more often it fails, the rarer the returns.
#[test]
fn no_ping_pong_on_a_flapping_link() {
    let mut model = phone();
    for _ in 0..300 {
        model.down(1);
        model.wait(seconds(0.4));
        model.up(1, WirelessLan);
        model.wait(seconds(0.6));
    }
    // Back after 2, 4, 8, ... 64 s and then each 64 s, and away again.
    assert!(model.moves().len() <= 20, "{} moves in five minutes", model.moves().len());
    model.wait(seconds(70.0));
    assert_eq!(model.primary(), Some(ip(1)), "once it holds it is used again");
}

#[test]
fn metered_links_are_spared_and_used_when_nothing_else_works() {
    let mut model =
        Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular), (3, Wired)]);
    model.link(about(3, InterfaceFact::Cost(Cost::Metered)));
    model.wait(seconds(10.0));
    assert_eq!(model.primary(), Some(ip(1)), "not to the metered one, however fast");
    model.path(1, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(2)));
    model.path(2, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(3)));
    model.path(2, PathState::Active);
    model.wait(seconds(10.0));
    assert_eq!(model.primary(), Some(ip(2)), "and left as soon as possible");
}

#[test]
fn the_users_order_counts_more_than_the_kind() {
    let mut model = phone();
    model.link(about(2, InterfaceFact::Rank(0)));
    model.link(about(1, InterfaceFact::Rank(1)));
    model.wait(seconds(3.0));
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::Preferred);
}

#[test]
fn what_the_network_selects_comes_first() {
    let mut model = phone();
    model.link(about(2, InterfaceFact::Selected));
    model.wait(seconds(3.0));
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::Selected);
    model.link(about(2, InterfaceFact::GoingDown));
    assert_eq!(model.primary(), Some(ip(1)), "as long as it works");
}

#[test]
fn twenty_moves_back_and_forth() {
    let mut model = phone();
    for round in 0..20 {
        let (from, to) = if round % 2 == 0 { (1, 2) } else { (2, 1) };
        model.link(about(from, InterfaceFact::GoingDown));
        assert_eq!(model.primary(), Some(ip(to)), "round {round}");
        model.down(from);
        model.wait(seconds(10.0));
        let kind = if from == 1 { WirelessLan } else { Cellular };
        model.up(from, kind);
        model.wait(seconds(0.1));
    }
}
