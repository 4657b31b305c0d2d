use whimbrel_machine::{Cost, InterfaceFact, InterfaceKind};
use whimbrel_proto::PathState;

use super::*;
use crate::testing::{Model, Peer, about, address, ip, seconds};
use crate::{Governed, Judge};

const WIFI: InterfaceKind = InterfaceKind::WirelessLan;
const CELL: InterfaceKind = InterfaceKind::Cellular;

/// Interfaces 1 and 2 in the association, 1 primary; what the puppet wishes is told by facts.
fn puppet() -> Model<Governed<Puppet>> {
    Model::new(Governed::new(Puppet, Pace::MOBILE), &[(1, WIFI), (2, CELL)])
}

/// Wants what is selected at once, what has rank 0 some time, and every address that is not metered.
#[derive(Debug)]
struct Puppet;

impl Judge for Puppet {
    fn judge(&mut self, _now: Instant, _fact: &Fact, view: &View<'_>) -> Wish {
        let selected = view.interfaces.iter().find(|interface| interface.selected);
        let preferred = view.interfaces.iter().find(|interface| interface.properties.rank == Some(0));
        let locals =
            |id| view.addresses.iter().find(move |l| Some(l.interface) == id).map(|l| l.address.ip());
        let chosen = selected.or(preferred).map(|interface| interface.id);
        let need = if selected.is_some() { Need::Necessity } else { Need::Advantage };
        let primary = locals(chosen).map(|local| Want { local, need, reason: Reason::Preferred });
        let metered = |l: &crate::LocalAddress| {
            view.interface(l.interface).is_some_and(|i| i.properties.cost == Some(Cost::Metered))
        };
        let addresses = view.addresses.iter().filter(|l| !metered(l)).map(|l| l.address.ip()).collect();
        Wish { primary, addresses }
    }
}

#[test]
fn an_advantage_must_settle_and_a_necessity_need_not() {
    let mut model = puppet();
    model.link(about(2, InterfaceFact::Rank(0)));
    assert_eq!(model.primary(), Some(ip(1)));
    model.wait(seconds(0.49));
    assert_eq!(model.primary(), Some(ip(1)));
    model.wait(seconds(0.02));
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.peer_sends_to, Some(ip(2)), "both directions");
    model.link(about(1, InterfaceFact::Selected));
    assert_eq!(model.primary(), Some(ip(1)), "at once, whatever the dwell time");
}

#[test]
fn an_advantage_waits_for_the_dwell_time() {
    let mut model = puppet();
    model.link(about(2, InterfaceFact::Rank(0)));
    model.wait(seconds(0.6));
    model.link(about(2, InterfaceFact::Rank(9)));
    model.link(about(1, InterfaceFact::Rank(0)));
    model.wait(seconds(1.5));
    assert_eq!(model.primary(), Some(ip(2)));
    model.wait(seconds(1.0));
    assert_eq!(model.primary(), Some(ip(1)));
}

/// An advantage that comes and goes is none.
#[test]
fn a_wish_that_does_not_last_is_not_followed() {
    let mut model = puppet();
    for _ in 0..20 {
        model.link(about(2, InterfaceFact::Rank(0)));
        model.wait(seconds(0.3));
        model.link(about(2, InterfaceFact::Rank(9)));
        model.wait(seconds(0.3));
    }
    assert_eq!(model.moves(), []);
}

#[test]
fn even_necessities_are_limited() {
    let mut model = puppet();
    for step in 0..1000 {
        model.link(about(1 + (step % 2) as u8, InterfaceFact::Selected));
        model.wait(seconds(0.01));
    }
    let pace = Pace::MOBILE;
    assert!(model.moves().len() <= pace.moves as usize + 10, "{} moves in 10 s", model.moves().len());
    assert!(model.moves().len() >= 10, "and it does move when it may");
}

#[test]
fn set_primary_and_deletion_of_what_is_left_come_together_and_in_this_order() {
    let mut model = puppet();
    model.link(about(1, InterfaceFact::Cost(whimbrel_machine::Cost::Metered)));
    assert!(model.knows(1), "the address in use stays");
    model.log.clear();
    model.link(about(2, InterfaceFact::Selected));
    let actions = model.actions();
    assert!(matches!(
        actions[..],
        [Action::UsePath(_), Action::AskPrimary(new), Action::DeleteAddress(old)] if new == ip(2) && old == ip(1)
    ));
}

#[test]
fn an_address_that_is_down_for_long_is_deleted_and_one_that_blinks_is_not() {
    let mut model = puppet();
    model.down(2);
    model.wait(seconds(3.0));
    model.up(2, CELL);
    model.wait(seconds(10.0));
    assert!(model.knows(2));
    assert_eq!(model.log, []);
    model.down(2);
    model.wait(seconds(4.9));
    assert!(model.knows(2));
    model.wait(seconds(0.2));
    assert!(!model.knows(2));
    model.up(2, CELL);
    assert!(model.knows(2));
}

/// The peer repeats what was on its way to an address when that is deleted. An address that is still there is not: what is on its
/// way there arrives.
#[test]
fn an_address_that_is_gone_is_deleted_in_the_request_for_the_next_one() {
    let mut model = puppet();
    model.link(about(2, InterfaceFact::Selected));
    model.answer();
    assert!(model.knows(1), "left, but still there");
    model.link(about(2, InterfaceFact::Rank(9)));
    model.down(2);
    model.log.clear();
    model.link(about(1, InterfaceFact::Selected));
    let actions = model.actions();
    assert!(matches!(
        actions[..],
        [Action::UsePath(_), Action::AskPrimary(new), Action::DeleteAddress(old)] if new == ip(1) && old == ip(2)
    ));
    model.answer();
    model.up(2, CELL);
    model.answer();
    assert!(model.knows(2), "added again when it comes back");
}

/// Each request for what we use takes one from the deletion of what is gone, and a peer that wants something else makes for one all the time.
#[test]
fn a_peer_with_a_will_of_its_own_does_not_hold_up_a_deletion() {
    let mut model =
        Model::new(Governed::new(Puppet, Pace::MOBILE), &[(1, WIFI), (2, CELL), (3, CELL), (4, CELL)]);
    model.link(about(1, InterfaceFact::Selected));
    model.link(about(2, InterfaceFact::Selected));
    let peer_insists = |model: &mut Model<Governed<Puppet>>| {
        for n in [2, 4].repeat(40) {
            model.peer_moves_us(n);
            model.answer();
            model.wait(seconds(0.25));
        }
    };
    peer_insists(&mut model);
    model.down(3);
    peer_insists(&mut model);
    assert!(!model.knows(3));
}

/// Each of two hosts has a network that the other one's choice leads away from. Neither knows, and both insist, ever more rarely.
#[test]
fn who_is_taken_away_again_and_again_does_not_insist_at_once() {
    for fact in [InterfaceFact::Selected, InterfaceFact::Rank(0)] {
        let mut model = puppet();
        model.link(about(2, fact));
        model.wait(seconds(3.0));
        assert_eq!(model.primary(), Some(ip(2)));
        model.log.clear();
        for _ in 0..200 {
            if model.primary() == Some(ip(2)) {
                model.peer_asks_us_to(1);
            }
            model.answer();
            model.wait(seconds(0.5));
        }
        assert!((2..=8).contains(&model.moves().len()), "{} moves in 100 s", model.moves().len());
        // Where the present path does not work there is nothing to contend for.
        model.peer_asks_us_to(1);
        model.path(1, PathState::Inactive);
        model.wait(seconds(1.0));
        if fact == InterfaceFact::Selected {
            assert_eq!(model.primary(), Some(ip(2)));
        }
    }
}

/// b08 section 3.3.2: add, delete, set primary, in this order.
#[test]
fn break_before_make_is_one_request_in_the_right_order() {
    let mut model = Model::new(Governed::new(Puppet, Pace::MOBILE), &[(1, WIFI)]);
    model.down(1);
    model.wait(seconds(60.0));
    assert_eq!(model.log, [], "the last address is never deleted");
    model.up(2, CELL);
    assert_eq!(
        model.actions(),
        [Action::AddAddress(address(2)), Action::DeleteAddress(ip(1)), Action::AskPrimary(ip(2))]
    );
    assert!(model.knows(2) && !model.knows(1));
    assert_eq!(model.primary(), Some(ip(2)));
}

/// A bridge to containers is up, and nothing has ever been answered there.
#[test]
fn an_address_that_works_nowhere_is_nothing_that_is_left() {
    let mut model = Model::new(Governed::new(Puppet, Pace::MOBILE), &[(1, WIFI), (3, CELL)]);
    model.path(3, PathState::Unconfirmed);
    model.down(1);
    model.wait(seconds(1.0));
    model.log.clear();
    model.up(2, CELL);
    let wanted = [Action::AddAddress(address(2)), Action::DeleteAddress(ip(1)), Action::AskPrimary(ip(2))];
    assert_eq!(model.actions(), wanted);
}

/// After half a second, one, two, four, eight seconds, and so on.
#[test]
fn a_peer_that_refuses_is_asked_again_but_ever_more_rarely() {
    let mut model = puppet();
    model.peer = Peer::Refuses;
    model.up(3, CELL);
    model.link(about(2, InterfaceFact::Selected));
    model.answer();
    model.wait(seconds(10.0));
    let asked = |action| model.actions().iter().filter(|&&other| other == action).count();
    assert_eq!(asked(Action::AddAddress(address(3))), 5);
    assert_eq!(asked(Action::AskPrimary(ip(2))), 5);
    let why = model.log.iter().filter(|(_, one)| one.action == Action::AskPrimary(ip(2)));
    let why: Vec<Reason> = why.map(|(_, one)| one.reason).collect();
    assert_eq!(
        (why[0], why[4]),
        (Reason::Preferred, Reason::BothWays),
        "not as if it were asked for the first time"
    );
    assert!(!model.knows(3));
    model.peer = Peer::Agrees;
    model.wait(seconds(6.0));
    assert!(model.knows(3));
    assert_eq!(model.peer_sends_to, Some(ip(2)));
}

/// An address that the peer will never take does not use up what is allowed for all requests.
#[test]
fn refused_additions_do_not_hold_up_anything_else() {
    let mut model = puppet();
    model.peer = Peer::RefusesAdditions;
    model.up(3, CELL);
    for _ in 0..100 {
        model.link(about(1, InterfaceFact::Rank(5)));
        model.answer();
        model.wait(seconds(0.1));
    }
    model.link(about(2, InterfaceFact::Selected));
    model.answer();
    assert_eq!(model.peer_sends_to, Some(ip(2)), "at once");
    model.link(about(1, InterfaceFact::Cost(whimbrel_machine::Cost::Metered)));
    model.answer();
    assert!(!model.knows(1), "deleted");
}

#[test]
fn refused_primaries_do_not_hold_up_anything_else() {
    let mut model = puppet();
    model.peer = Peer::RefusesPrimaries;
    model.link(about(2, InterfaceFact::Selected));
    for _ in 0..100 {
        model.link(about(1, InterfaceFact::Rank(5)));
        model.answer();
        model.wait(seconds(0.1));
    }
    model.up(3, CELL);
    assert!(model.knows(3));
    model.link(about(1, InterfaceFact::Cost(whimbrel_machine::Cost::Metered)));
    model.answer();
    assert!(!model.knows(1));
}

/// A host with IPv6, a peer without: there is nothing to ask for until the peer has an IPv6 address, too.
#[test]
fn an_address_of_a_family_that_the_peer_lacks_is_not_added() {
    let mut model = puppet();
    let six = |n: u16| std::net::SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, n], 9899));
    model.link(LinkFact::AddressUp(six(1)));
    model.wait(seconds(10.0));
    assert_eq!(model.log, []);
    model.remotes.push(six(2));
    model.peer = Peer::Silent;
    let change = whimbrel_proto::PeerAddressChange::Added;
    model.observe(&Fact::PeerAddress { address: six(2), change });
    assert_eq!(model.actions(), [Action::AddAddress(six(1))]);
}

/// After a restart the peer sends where it likes.
#[test]
fn after_a_restart_the_peer_is_asked_for_the_primary_again() {
    let mut model = puppet();
    model.link(about(2, InterfaceFact::Selected));
    model.answer();
    assert_eq!(model.peer_sends_to.take(), Some(ip(2)));
    model.observe(&Fact::Begun);
    model.answer();
    assert_eq!(model.peer_sends_to, Some(ip(2)));
}

#[test]
fn a_peer_without_asconf_is_asked_nothing() {
    let mut model = puppet();
    model.dynamic = false;
    model.up(3, CELL);
    model.link(about(2, InterfaceFact::Selected));
    model.down(3);
    model.wait(seconds(10.0));
    assert_eq!(model.actions().len(), 1);
    assert!(matches!(model.actions()[0], Action::UsePath(_)));
    // Not even when nothing it knows is left.
    model.down(1);
    model.down(2);
    model.up(4, CELL);
    model.wait(seconds(10.0));
    assert_eq!(model.actions().len(), 1);
}
