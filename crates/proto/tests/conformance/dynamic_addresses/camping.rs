//! Address camping (RFC 5062 §2): somebody lists another host's address, at which he never answers, before that host comes or moves there.

use whimbrel_proto::{AssociationFailure, Event, PathState};
use whimbrel_wire::{AbortBuilder, AsconfBuilder, CookieEcho};

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn camper(bench: &mut Bench) -> Mobile {
    let mut camper = Mobile::new();
    camper.begin(bench, &[1, 3]);
    bench.deliver(&camper.packet(&[&CookieEcho { cookie: &camper.cookie }]));
    bench.take();
    camper
}

/// A peer at address 2 moves to 3, and is believed there.
fn mover(bench: &mut Bench) -> Mobile {
    let mut mover = Mobile::with_initial_tsn(7000);
    mover.auth.peer.tag = 0x3333_4444;
    mover.connect_on(bench, between(1, 2), &[2]);
    let requests = [add(0, peer_address(3).ip())];
    let request =
        AsconfBuilder { sequence_number: mover.serial, address: peer_address(2).ip(), parameters: &requests };
    bench.deliver_on(between(1, 3), &mover.signed(&[&request]));
    mover.settle(bench);
    assert_eq!(state(bench, between(1, 3)), PathState::Active);
    mover
}

/// Whether the peer that moved has ended its association with an ABORT from there that reflects the tag (RFC 9260 §8.5.1 B).
fn is_heard_at_3(bench: &mut Bench, mover: &Mobile) -> bool {
    let before = bench.events.len();
    let abort = AbortBuilder { tag_reflected: true, causes: &[] };
    bench.deliver_on(between(1, 3), &packet(mover.header(mover.auth.peer.tag), &[&abort]));
    bench.events[before..].iter().any(|event| matches!(event, Event::Closed { .. }))
}

#[test]
fn who_moves_to_an_address_that_another_lists_is_heard_there() {
    for camped in [false, true] {
        let mut bench = Bench::with_addresses(mesh(), 1);
        if camped {
            camper(&mut bench);
        }
        let mover = mover(&mut bench);
        assert!(is_heard_at_3(&mut bench, &mover), "camped: {camped}");
    }
}

#[test]
fn who_moved_there_is_heard_when_the_other_has_gone() {
    let mut bench = Bench::with_addresses(mesh(), 1);
    let camper = camper(&mut bench);
    let mover = mover(&mut bench);
    bench.deliver(&camper.packet(&[&AbortBuilder { tag_reflected: false, causes: &[] }]));
    bench.take();
    assert!(is_heard_at_3(&mut bench, &mover));
}

/// An address that was the peer's may be somebody else's by now, who knows nothing of the association: it goes on by the other one. With the RFC's
/// counters instead of patience it ends, as RFC 9260 §8.5.1 B has it.
#[test]
fn an_address_that_somebody_else_has_ends_nothing_while_there_is_another() {
    let patient = AssociationFailure::Silence(core::time::Duration::from_secs(3600));
    for (failure, ends) in [(patient, [false, true]), (AssociationFailure::Errors(10), [true, true])] {
        let mut config = mesh();
        config.failure.association = failure;
        let mut bench = Bench::with_addresses(config, 1);
        let mover = mover(&mut bench);
        let abort = AbortBuilder { tag_reflected: true, causes: &[] };
        for (route, ended) in [between(1, 3), between(1, 2)].into_iter().zip(ends) {
            bench.deliver_on(route, &packet(mover.header(mover.auth.peer.tag), &[&abort]));
            let closed = bench.events.iter().any(|event| matches!(event, Event::Closed { .. }));
            assert_eq!(closed, ended, "{failure:?} {route}");
        }
    }
}
