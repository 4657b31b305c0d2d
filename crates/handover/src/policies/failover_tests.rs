use whimbrel_machine::InterfaceKind::{Cellular, WirelessLan};
use whimbrel_proto::PathState;

use super::*;
use crate::testing::{Model, ip, seconds};

#[test]
fn the_protocol_is_left_to_fail_over_and_back() {
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular)]);
    model.path(1, PathState::Inactive);
    model.wait(seconds(60.0));
    model.path(1, PathState::Active);
    model.wait(seconds(60.0));
    assert_eq!(model.log, []);
}

#[test]
fn the_primary_is_replaced_when_its_address_is_gone() {
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular)]);
    model.down(1);
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.peer_sends_to, Some(ip(2)));
    model.up(1, WirelessLan);
    model.wait(seconds(600.0));
    assert_eq!(model.primary(), Some(ip(2)), "it does not prefer any");
}

#[test]
fn new_addresses_are_added() {
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &[(1, WirelessLan)]);
    model.up(2, Cellular);
    assert!(model.knows(2));
    assert_eq!(model.primary(), Some(ip(1)));
}
