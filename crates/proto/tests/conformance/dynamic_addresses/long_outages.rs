//! A host for which one network follows the other, and none of them works.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::AddressChange::{Add, SetPrimary};
use whimbrel_proto::{AddressChangeError as Error, Command, Config, PathState};
use whimbrel_wire::{Data, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// What waits is about addresses that are gone again, and makes room for the one that is there, from which the request that is under way leaves then.
#[test]
fn changes_about_addresses_that_are_gone_make_room() {
    let mut config = mesh();
    config.dar.queue = 6;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    up(&mut bench, node_address(2));
    change(&mut bench, &[Add(node_address(2)), SetPrimary(node_address(2).ip())]);
    down(&mut bench, node_address(1));
    for n in 2..9 {
        swap(&mut bench, node_address(n), node_address(n + 1));
        change(&mut bench, &[Add(node_address(n + 1)), SetPrimary(node_address(n + 1).ip())]);
    }
    let lost = outcomes(&bench);
    assert!(
        !lost.is_empty() && lost.iter().all(|(_, outcome)| *outcome == Err(Error::AddressLost)),
        "{lost:?}"
    );
    bench.take();
    bench.pass(Duration::from_secs(10));
    let from_there = |sent: Vec<Sent>| sent.into_iter().find(|sent| sent.route == between(9, 1)).unwrap();
    for _ in 0..2 {
        let sent = from_there(bench.take());
        mobile.grant(&mut bench, &sent);
    }
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(9, 1)), PathState::Active);
}

/// After a silence the answer to an ASCONF may be the first thing that is heard of a path. Data in flight there does not wait for a T3-rtx
/// that has backed off (RFC 9260 §6.3.3 E2).
#[test]
fn an_answer_after_a_silence_hastens_the_data_in_flight() {
    let mut config = mesh();
    config.heartbeat.interval = None;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    bench.send(0, b"data");
    change(&mut bench, &[SetPrimary(node_address(1).ip())]);
    let sent = bench.take();
    let asconf = sent.iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    bench.pass(Duration::from_secs(8));
    bench.take();
    mobile.grant(&mut bench, asconf);
    bench.pass(Duration::from_secs(1));
    assert!(holds(&bench.take(), chunk_type::DATA));
}

/// A path has missed something and works after all: a request that is under way there still has the time that an answer takes. RTO.Initial may be less.
#[test]
fn a_return_grants_a_request_the_round_trip_of_its_path() {
    let mut config = mesh();
    config.heartbeat.interval = None;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    let acknowledge = |bench: &mut Bench| {
        let sent: Vec<Sent> = bench.take();
        let last = sent.iter().flat_map(Sent::data).map(|data| data.tsn).next_back().expect("data");
        bench.deliver(&mobile.sack(last, 100_000));
    };
    for _ in 0..12 {
        bench.send(0, b"data");
        bench.pass(Duration::from_millis(1900));
        acknowledge(&mut bench);
    }
    let rto = bench.paths()[0].rto;
    assert!(rto > Duration::from_millis(1900), "{rto:?}");
    bench.send(0, b"late");
    bench.pass(rto - Duration::from_millis(100));
    change(&mut bench, &[SetPrimary(node_address(1).ip())]);
    let (association, path) = (bench.association(), bench.paths()[0].id);
    bench.command(Command::RequestHeartbeat { association, path });
    bench.pass(Duration::from_millis(200));
    assert_eq!(bench.paths()[0].error_count, 1, "T3-rtx has expired");
    bench.take().iter().for_each(|sent| mobile.answer_heartbeats(&mut bench, sent));
    bench.pass(Duration::from_millis(1500));
    assert!(!holds(&bench.take(), chunk_type::ASCONF), "its answer is still on the way");
    bench.pass(rto);
    assert!(holds(&bench.take(), chunk_type::ASCONF));
}

/// Nothing works, and then an address comes that does: what is in flight by the paths of the others, whose T3-rtx have backed off, goes out by
/// the new one as soon as that is confirmed.
#[test]
fn what_is_in_flight_by_failed_paths_leaves_by_a_new_one() {
    let (mut bench, mobile) = Mobile::connected(Config::mobile(), 2);
    bench.send(0, b"in flight");
    bench.pass(Duration::from_secs(20));
    assert!(bench.paths().iter().all(|path| path.state != PathState::Active));
    up(&mut bench, node_address(3));
    change(&mut bench, &[Add(node_address(3))]);
    let mut began = None;
    for milliseconds in 0..200 {
        for sent in bench.take().into_iter().filter(|sent| sent.route.local == node_address(3)) {
            mobile.answer_heartbeats(&mut bench, &sent);
            if holds(core::slice::from_ref(&sent), chunk_type::ASCONF) {
                mobile.grant(&mut bench, &sent);
            }
            if !sent.data().is_empty() {
                began.get_or_insert(milliseconds);
            }
        }
        bench.pass(Duration::from_millis(1));
    }
    assert!(began.is_some_and(|after| after < 50), "{began:?} ms");
}

/// Nothing works, and what is said leaves by a path that has failed. A moment later another one answers: what is in flight does not wait for
/// the first one's RTO.
#[test]
fn what_left_as_a_last_resort_leaves_again_by_the_first_path_that_works() {
    let (mut bench, mobile) = Mobile::connected_with(Config::mobile(), 2, &[1, 2]);
    bench.send(0, b"before");
    bench.pass(Duration::from_secs(20));
    assert!(bench.paths().iter().all(|path| path.state != PathState::Active));
    bench.take();
    let mut last = None;
    for n in 0..20_000_u32 {
        for sent in bench.take() {
            if let Some(data) = sent.data().first() {
                last = Some((sent.route, data.tsn, n));
            }
            // A HEARTBEAT by a path that has no address in common with that by which DATA has just left, and which cannot have brought an answer yet.
            let apart = |route: Route| route.local != sent.route.local && route.remote != sent.route.remote;
            let recent = last.filter(|&(route, _, at)| apart(route) && n < at + 30);
            if let Some((_, tsn, _)) = recent
                && holds(core::slice::from_ref(&sent), chunk_type::HEARTBEAT)
            {
                mobile.answer_heartbeats(&mut bench, &sent);
                let now = bench.take();
                // Not only what is new.
                let left_before = |data: &Data<'_>| !tsn.precedes(data.tsn);
                let again = |one: &Sent| one.route == sent.route && one.data().iter().any(left_before);
                assert!(now.iter().any(again), "nothing up to {tsn:?} leaves by {:?}", sent.route);
                return;
            }
        }
        bench.send(0, b"last resort");
        bench.pass(Duration::from_millis(10));
    }
    panic!("no HEARTBEAT");
}

/// A request for this address is under way when address 3 comes: where an ASCONF leaves from then.
fn newcomer_asks_from(bench: &mut Bench, wanted: u8) -> Option<SocketAddr> {
    change(bench, &[SetPrimary(node_address(wanted).ip())]);
    assert!(holds(&bench.take(), chunk_type::ASCONF));
    up(bench, node_address(3));
    change(bench, &[Add(node_address(3))]);
    let sent = bench.take();
    let asconf = sent.iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF));
    asconf.map(|sent| sent.route.local)
}

/// A request is under way when another address comes, and no path works: it leaves from there at once, not after it has been tried by all the others.
#[test]
fn a_newcomer_takes_over_what_is_under_way_where_nothing_works() {
    let (mut bench, _) = Mobile::connected_with(Config::mobile(), 2, &[1, 2]);
    bench.send(0, b"in flight");
    bench.pass(Duration::from_secs(90));
    assert!(bench.paths().iter().all(|path| path.state != PathState::Active));
    assert_eq!(newcomer_asks_from(&mut bench, 2), Some(node_address(3)));
}

/// One network has been away for long when the other goes silent, too. The first may be back by then: it is asked at once, not when its supervision,
/// which has backed off, gets to it.
#[test]
fn what_failed_before_is_asked_when_the_last_path_goes_silent() {
    let (mut bench, mobile) = Mobile::connected_with(Config::mobile(), 2, &[1, 2]);
    // 5 ms in which something is said; whether a path of the first address has been asked.
    let step = |bench: &mut Bench, second_works: bool| {
        bench.send(0, b"said");
        bench.pass(Duration::from_millis(5));
        let mut asked = false;
        for sent in bench.take() {
            if sent.route.local == node_address(1) {
                asked |= holds(core::slice::from_ref(&sent), chunk_type::HEARTBEAT);
            } else if second_works {
                mobile.answer_heartbeats(bench, &sent);
                if let Some(data) = sent.data().last() {
                    bench.deliver_on(sent.route, &mobile.sack(data.tsn, 100_000));
                }
            }
        }
        asked
    };
    for _ in 0..12_000 {
        step(&mut bench, true);
    }
    assert_eq!(state(&bench, between(2, 1)), PathState::Active);
    assert_eq!(state(&bench, between(1, 1)), PathState::Inactive);
    assert!((0..12_000).any(|_| step(&mut bench, true)), "it is asked now and then");
    for _ in 0..400 {
        step(&mut bench, true);
    }
    let waits = (0..1_000).find(|_| step(&mut bench, false)).map(|steps| steps * 5);
    assert!(waits.is_some_and(|waits| waits <= 100), "{waits:?} ms");
}

/// Where an ASCONF leaves from that adds an address, while a request is under way by a path that is Active. One of the peer's addresses answers no
/// more, and from the other nothing has come since that was last asked.
fn newcomer_beside_a_network_in_doubt(config: Config) -> Option<SocketAddr> {
    let (mut bench, mobile) = Mobile::connected_with(config, 1, &[1, 2]);
    let step = |bench: &mut Bench| {
        bench.pass(Duration::from_millis(10));
        let sent = bench.take();
        let asked = sent.iter().any(|sent| sent.route == between(1, 2));
        let fails = state(bench, between(1, 2)) != PathState::Active;
        for sent in sent.iter().filter(|sent| sent.route == between(1, 1) && !(asked && fails)) {
            mobile.answer_heartbeats(bench, sent);
        }
        asked && fails
    };
    assert!((0..100_000).any(|_| step(&mut bench)));
    assert_eq!(state(&bench, between(1, 1)), PathState::Active);
    newcomer_asks_from(&mut bench, 1)
}

/// The network itself is in doubt, and the newcomer takes over what is under way.
#[test]
fn a_newcomer_takes_over_what_is_under_way_where_the_network_is_in_doubt() {
    assert_eq!(newcomer_beside_a_network_in_doubt(Config::mobile()), Some(node_address(3)));
}

/// RFC 5061 §5.1 B1 to B4: nothing is sent again before T4.
#[test]
fn without_probes_a_request_waits_for_t4() {
    assert_eq!(newcomer_beside_a_network_in_doubt(mesh()), None);
}
