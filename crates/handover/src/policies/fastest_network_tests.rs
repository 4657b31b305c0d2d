use whimbrel_machine::InterfaceKind::{Cellular, WirelessLan};
use whimbrel_proto::PathState;

use super::*;
use crate::testing::{Model, about, ip, seconds};

fn in_cellular() -> Model<Governed<FastestNetwork>> {
    Model::new(FastestNetwork::policy(Pace::MOBILE), &[(1, Cellular)])
}

fn in_wireless_lan() -> Model<Governed<FastestNetwork>> {
    Model::new(FastestNetwork::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular)])
}

/// A signal that falls from −60 dBm to the floor of −90 dBm in about `seconds`, one reading each 100 ms. Returns after how
/// many readings the policy left.
fn fade(model: &mut Model<Governed<FastestNetwork>>, steps: u32) -> Option<u32> {
    let (high, floor) = (ReceivedPower::from_dbm(-60.0).watts(), ReceivedPower::from_dbm(-90.0).watts());
    for step in 0..=steps {
        let watts = high + (floor - high) * f64::from(step) / f64::from(steps);
        model.link(about(1, InterfaceFact::Signal(ReceivedPower::from_watts(watts))));
        if model.primary() == Some(ip(2)) {
            return Some(step);
        }
        model.wait(seconds(0.1));
        if model.primary() == Some(ip(2)) {
            return Some(step);
        }
    }
    None
}

#[test]
fn to_a_faster_network_at_once() {
    let mut model = in_cellular();
    model.up(2, WirelessLan);
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.peer_sends_to, Some(ip(2)));
    assert!(model.knows(1), "the slower one stays");
}

#[test]
fn to_a_slower_network_never_by_itself() {
    let mut model = Model::new(FastestNetwork::policy(Pace::MOBILE), &[(1, WirelessLan)]);
    model.up(2, Cellular);
    model.wait(seconds(600.0));
    assert_eq!(model.moves(), []);
}

#[test]
fn rates_count_more_than_kinds() {
    let mut model = in_wireless_lan();
    model.link(about(1, InterfaceFact::Rate(11_000_000)));
    model.link(about(2, InterfaceFact::Rate(300_000_000)));
    model.wait(seconds(3.0));
    assert_eq!(model.primary(), Some(ip(2)));
}

/// What a radio reports wavers: two networks that are about as fast are as good as one.
#[test]
fn between_similar_networks_it_stays() {
    let mut model = Model::new(FastestNetwork::policy(Pace::MOBILE), &[(1, WirelessLan), (2, WirelessLan)]);
    for step in 0..200 {
        let n = 1 + step % 2;
        model.link(about(n as u8, InterfaceFact::Rate(54_000_000)));
        model.link(about(3 - n as u8, InterfaceFact::Rate(48_000_000)));
        model.wait(seconds(2.5));
    }
    assert_eq!(model.moves(), []);
    model.link(about(1, InterfaceFact::Rate(24_000_000)));
    model.wait(seconds(2.5));
    assert_eq!(model.primary(), Some(ip(2)), "but not where another is clearly faster");
}

#[test]
fn down_at_the_warning() {
    let mut model = in_wireless_lan();
    model.link(about(1, InterfaceFact::GoingDown));
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::GoingDown);
}

/// With a round trip of 50 ms and a margin of 100 ms, not before the last few readings, and before the end.
#[test]
fn down_as_late_as_is_safe() {
    let mut model = in_wireless_lan();
    let left = fade(&mut model, 50).expect("it leaves before the end");
    assert!((47..50).contains(&left), "left after {left} of 50 readings");
}

#[test]
fn down_when_the_path_fails_unannounced_and_up_again_later() {
    let mut model = in_wireless_lan();
    model.path(1, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(2)));
    model.path(1, PathState::Active);
    assert_eq!(model.primary(), Some(ip(2)), "not at once");
    model.wait(seconds(3.0));
    assert_eq!(model.primary(), Some(ip(1)));
}

#[test]
fn nowhere_to_go_is_no_reason_to_go() {
    let mut model = in_cellular();
    model.link(about(1, InterfaceFact::GoingDown));
    model.path(1, PathState::Inactive);
    model.wait(seconds(60.0));
    assert_eq!(model.moves(), []);
}
