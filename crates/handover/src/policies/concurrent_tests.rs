use whimbrel_machine::InterfaceKind::{Cellular, WirelessLan};
use whimbrel_proto::PathState;

use super::*;
use crate::Action;
use crate::testing::{Model, address, ip, seconds};

fn model() -> Model<Governed<Concurrent>> {
    Model::new(Concurrent::policy(Pace::MOBILE), &[(1, WirelessLan)])
}

#[test]
fn a_second_network_is_joined_and_the_first_stays_primary() {
    let mut model = model();
    model.up(2, Cellular);
    model.wait(seconds(600.0));
    assert_eq!(model.actions(), [Action::AddAddress(address(2))]);
    assert!(model.knows(1) && model.knows(2));
    assert_eq!(model.primary(), Some(ip(1)));
}

#[test]
fn on_leaving_the_first_its_address_is_deleted_at_once() {
    let mut model = model();
    model.up(2, Cellular);
    model.down(1);
    assert!(!model.knows(1) && model.knows(2), "{:?}", model.actions());
    assert_eq!((model.primary(), model.peer_sends_to), (Some(ip(2)), Some(ip(2))));
}

/// Whoever turns back leaves the network that has just been added; what is in flight there must not wait either.
#[test]
fn on_leaving_the_second_its_address_is_deleted_at_once() {
    let mut model = model();
    model.up(2, Cellular);
    model.down(2);
    assert_eq!(model.actions(), [Action::AddAddress(address(2)), Action::DeleteAddress(ip(2))]);
    assert_eq!(model.primary(), Some(ip(1)));
}

/// Both are in use, and which of them is primary matters little.
#[test]
fn a_path_that_fails_is_left_to_the_protocol() {
    let mut model = model();
    model.up(2, Cellular);
    model.path(1, PathState::Inactive);
    model.wait(seconds(60.0));
    model.path(1, PathState::Active);
    assert_eq!(model.actions(), [Action::AddAddress(address(2))]);
}
