use whimbrel_machine::InterfaceKind::{Cellular, WirelessLan};
use whimbrel_machine::LinkFact;
use whimbrel_proto::PathState;

use super::*;
use crate::Action;
use crate::testing::{Model, address, ip, seconds};

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

/// Our IPv6 address is up all the time, and the peer was told of it in the handshake; but the peer has IPv4 only.
#[test]
fn an_address_that_does_not_lead_to_the_peer_is_nothing_that_is_left() {
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &[(1, WirelessLan)]);
    let six = std::net::SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9899));
    model.tell_peer(six);
    model.link(LinkFact::AddressUp(six));
    model.down(1);
    model.up(2, Cellular);
    assert_eq!(
        model.actions()[..3],
        [Action::AddAddress(address(2)), Action::DeleteAddress(ip(1)), Action::AskPrimary(ip(2))]
    );
}
