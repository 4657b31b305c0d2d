use whimbrel_machine::InterfaceKind;

use super::*;
use crate::testing::{self, Model, Peer, address, seconds};
use crate::{Action, Failover, Pace};

const FIRST: Duration = Duration::from_millis(500);

fn ip(n: u32) -> IpAddr {
    IpAddr::from(n.to_be_bytes())
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

#[test]
fn each_refusal_doubles_the_time_up_to_a_limit() {
    let mut refusals = Refusals::new(FIRST);
    for expected in [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 64_000, 64_000] {
        refusals.note(at(7), Request::Add, ip(1), false);
        assert_eq!(refusals.retry_at(Request::Add, ip(1)), Some(at(7 + expected)));
    }
    assert_eq!(refusals.retry_at(Request::Primary, ip(1)), None, "another request");
    assert_eq!(refusals.retry_at(Request::Add, ip(2)), None, "another address");
}

#[test]
fn what_is_agreed_to_is_forgotten() {
    let mut refusals = Refusals::new(FIRST);
    refusals.note(at(0), Request::Primary, ip(1), false);
    refusals.note(at(0), Request::Primary, ip(1), false);
    refusals.note(at(0), Request::Primary, ip(1), true);
    assert_eq!(refusals.retry_at(Request::Primary, ip(1)), None);
    refusals.note(at(0), Request::Primary, ip(1), false);
    assert_eq!(refusals.retry_at(Request::Primary, ip(1)), Some(at(500)), "from the beginning");
}

/// A peer at its limit of addresses has room again when one is deleted.
#[test]
fn a_deletion_makes_room() {
    let mut refusals = Refusals::new(FIRST);
    refusals.note(at(0), Request::Add, ip(1), false);
    refusals.note(at(0), Request::Primary, ip(2), false);
    refusals.note(at(0), Request::Delete, ip(3), true);
    assert_eq!(refusals.retry_at(Request::Add, ip(1)), None);
    assert_eq!(refusals.retry_at(Request::Primary, ip(2)), Some(at(500)));
}

#[test]
fn refusals_are_bounded() {
    let mut refusals = Refusals::new(FIRST);
    for n in 0..1000 {
        refusals.note(at(n.into()), Request::Add, ip(n), false);
    }
    assert_eq!(refusals.list.len(), MAX_REMEMBERED);
    assert_eq!(refusals.retry_at(Request::Add, ip(0)), None, "the oldest");
    assert_eq!(refusals.retry_at(Request::Add, ip(999)), Some(at(1499)));
}

/// A host that has nothing left but an address that is refused, by the peer or because too much waits already, asks ever more rarely,
/// and at once for what comes back or comes new.
#[test]
fn who_starts_over_in_vain_does_not_ask_for_ever_at_the_same_rate() {
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &[(1, InterfaceKind::WirelessLan)]);
    model.peer = Peer::Refuses;
    model.down(1);
    model.up(2, InterfaceKind::Cellular);
    model.wait(seconds(900.0));
    let asked = |model: &Model<_>| {
        model.actions().iter().filter(|&&action| action == Action::AddAddress(address(2))).count()
    };
    assert_eq!(asked(&model), 21, "each 64 s in the end");
    model.down(2);
    model.up(2, InterfaceKind::Cellular);
    assert_eq!(asked(&model), 22);
    model.up(3, InterfaceKind::Wired);
    assert_eq!(model.actions().last(), Some(&Action::AskPrimary(testing::ip(3))));
}
