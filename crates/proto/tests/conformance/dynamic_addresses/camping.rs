//! Address camping (RFC 5062 §2): somebody lists another host's address, at which he never answers, before that host comes or moves there.

use whimbrel_proto::{Event, PathState};
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

/// Whether ABORTs that reflect the tag (RFC 9260 §8.5.1 B) end the association of the peer that moved, where both of its addresses have answered
/// so. One does not: somebody else may have it by now.
fn is_heard_at_3(bench: &mut Bench, mover: &Mobile) -> bool {
    let before = bench.events.len();
    let is_closed =
        |bench: &Bench| bench.events[before..].iter().any(|event| matches!(event, Event::Closed { .. }));
    let abort = AbortBuilder { tag_reflected: true, causes: &[] };
    for route in [between(1, 2), between(1, 3)] {
        assert!(!is_closed(bench), "by one of two addresses");
        bench.deliver_on(route, &packet(mover.header(mover.auth.peer.tag), &[&abort]));
    }
    is_closed(bench)
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
