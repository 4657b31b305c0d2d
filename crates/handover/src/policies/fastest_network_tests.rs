use whimbrel_machine::InterfaceKind::{Cellular, WirelessLan};
use whimbrel_proto::PathState;

use super::*;
use crate::Action;
use crate::testing::{Model, Peer, about, address, ip, seconds};

fn in_cellular() -> Model<Governed<FastestNetwork>> {
    Model::new(FastestNetwork::policy(Pace::MOBILE), &[(1, Cellular)])
}

fn in_wireless_lan() -> Model<Governed<FastestNetwork>> {
    Model::new(FastestNetwork::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular)])
}

/// A signal that falls from −60 dBm to the floor of −90 dBm in about `seconds`, one reading each 100 ms. Returns after how
/// many readings the policy left.
fn fade(model: &mut Model<Governed<FastestNetwork>>, steps: u32) -> Option<u32> {
    // In even steps of distance, of which the power falls with the fourth power.
    let root = |dbm: f64| ReceivedPower::from_dbm(dbm).watts().powf(-0.25);
    let (near, far) = (root(-60.0), root(-90.0));
    for step in 0..=steps {
        let distance = near + (far - near) * f64::from(step) / f64::from(steps);
        let power = ReceivedPower::from_watts(distance.powi(-4));
        model.link(about(1, InterfaceFact::Signal(power)));
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

/// As [`Model::up`], but nobody answers yet.
fn come_up(model: &mut Model<Governed<FastestNetwork>>, n: u8) {
    model.link(LinkFact::AddressOn { interface: InterfaceId(n.into()), address: ip(n) });
    model.link(about(n, InterfaceFact::Up(WirelessLan)));
    model.link(LinkFact::AddressUp(address(n)));
}

/// b08 section 4.2.1.2: Add IP and Set Primary together as soon as the address exists, in this order.
#[test]
fn the_peer_is_asked_together_with_the_addition() {
    let mut model = in_cellular();
    come_up(&mut model, 2);
    assert_eq!(model.actions(), [Action::AddAddress(address(2)), Action::AskPrimary(ip(2))]);
    assert_eq!(model.primary(), Some(ip(1)), "our own primary path waits until the new one works");
    model.answer();
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.actions().len(), 3, "and it is not asked twice");
    model.wait(seconds(60.0));
    assert_eq!(model.actions().len(), 3);
}

#[test]
fn what_was_asked_for_too_early_is_taken_back() {
    let mut model = in_cellular();
    come_up(&mut model, 2);
    model.link(about(2, InterfaceFact::GoingDown));
    model.answer();
    assert_eq!(model.peer_sends_to, Some(ip(1)));
    assert_eq!(model.moves(), []);
}

#[test]
fn before_the_dwell_time_is_over_it_is_only_added() {
    let mut model = in_cellular();
    model.up(2, WirelessLan);
    model.log.clear();
    model.link(about(3, InterfaceFact::Rate(1_000_000_000)));
    come_up(&mut model, 3);
    assert_eq!(model.actions(), [Action::AddAddress(address(3))]);
    model.answer();
    model.wait(seconds(3.0));
    assert_eq!((model.primary(), model.peer_sends_to), (Some(ip(3)), Some(ip(3))));
}

/// A peer without room for it, beside one that it knows: what works is not missed for what may never.
#[test]
fn a_refused_address_does_not_keep_it_from_the_next_best() {
    let mut model = in_cellular();
    model.peer = Peer::RefusesAdditions;
    model.link(about(2, InterfaceFact::Rate(1_000_000_000)));
    model.up(2, WirelessLan);
    model.wait(seconds(30.0));
    assert_eq!((model.primary(), model.moves()), (Some(ip(1)), vec![]));
    model.peer = Peer::Agrees;
    model.up(3, WirelessLan);
    assert_eq!(model.primary(), Some(ip(3)));
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

/// The other address of the network that fades, as of a host with both families, ends when it does. It is as fast, and faster than what stays.
#[test]
fn another_address_of_what_fades_is_no_refuge() {
    let mut model = in_wireless_lan();
    model.link(LinkFact::AddressOn { interface: InterfaceId(1), address: ip(3) });
    model.link(LinkFact::AddressUp(address(3)));
    model.answer();
    model.paths.iter_mut().for_each(|path| path.srtt = Some(Duration::from_millis(350)));
    let left = fade(&mut model, 50).expect("it leaves before the end");
    assert!((44..48).contains(&left), "left after {left} of 50 readings");
    assert_eq!(model.moves().len(), 1, "to the other network, and not by way of the other address");
}

/// Alone, there is nowhere to go.
#[test]
fn between_two_addresses_of_what_fades_it_stays() {
    let mut model = Model::new(FastestNetwork::policy(Pace::AT_ONCE), &[(1, WirelessLan)]);
    model.link(LinkFact::AddressOn { interface: InterfaceId(1), address: ip(3) });
    model.link(LinkFact::AddressUp(address(3)));
    model.answer();
    model.paths.iter_mut().for_each(|path| path.srtt = Some(Duration::from_millis(350)));
    assert_eq!(fade(&mut model, 50), None);
    assert_eq!(model.moves(), []);
}

/// The signal fell slowly, and has not been told for long: that it would be lost by now says nothing.
#[test]
fn what_has_not_been_told_for_long_is_no_reason_to_leave() {
    let mut model = in_wireless_lan();
    for tenths in 0..20_i32 {
        model.signal(1, -60.0 - 0.1 * f64::from(tenths));
        model.wait(seconds(0.1));
    }
    model.wait(seconds(600.0));
    assert_eq!(model.moves(), []);
}

/// The signal falls by 30 dB with the first step, and is a thousand times what is needed after it.
#[test]
fn a_walk_that_begins_at_the_antenna_is_no_reason_to_leave() {
    let mut model = in_wireless_lan();
    for tenths in 1..=100_i32 {
        let power = ReceivedPower::from_dbm(-90.0).scaled((90.0 / (0.5 * f64::from(tenths))).powi(4));
        model.link(about(1, InterfaceFact::Signal(power)));
        model.wait(seconds(0.1));
    }
    assert_eq!(model.moves(), [], "5 m/s for 10 s, where the signal lasts for 18 s");
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
