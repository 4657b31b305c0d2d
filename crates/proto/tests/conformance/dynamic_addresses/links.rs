//! The node's own links come and go.

use core::time::Duration;

use whimbrel_machine::{InterfaceFact, InterfaceId, InterfaceKind, LinkFact};
use whimbrel_proto::{AddressChange, Command, Event, PathState};
use whimbrel_wire::{Chunk, HeartbeatAck, Parameter, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn two_paths(config: whimbrel_proto::Config) -> (Bench, Mobile) {
    let (mut bench, mobile) = Mobile::connected_with(config, 2, &[1, 2]);
    bench.pass(Duration::from_secs(1));
    mobile.settle(&mut bench);
    assert!(bench.paths().iter().all(|path| path.state == PathState::Active));
    (bench, mobile)
}

/// Nothing more leaves from an address that is down, and what was in flight there goes out elsewhere at once.
#[test]
fn what_was_in_flight_on_a_link_that_goes_down_is_sent_elsewhere_at_once() {
    for config in [mesh(), dynamic()] {
        let (mut bench, mobile) = two_paths(config);
        bench.send(0, b"one");
        assert_eq!(bench.take_only().route.local, node_address(1));
        down(&mut bench, node_address(1));
        let sent = bench.take();
        let again: Vec<_> = sent.iter().filter(|sent| !sent.data().is_empty()).collect();
        assert_eq!(again.len(), 1);
        assert_eq!((again[0].route.local, again[0].data()[0].payload), (node_address(2), &b"one"[..]));
        assert_eq!(state(&bench, between(1, 1)), PathState::Inactive);
        let data = mobile.clone().data(0, 0, b"from the peer");
        bench.deliver_on(between(2, 2), &mobile.packet(&[&data]));
        bench.send(0, b"two");
        bench.pass(Duration::from_secs(100));
        assert!(bench.take().iter().all(|sent| sent.route.local == node_address(2)));
    }
}

/// The address stays part of the association, and once it is up again its paths carry data after one answered heartbeat,
/// which is sent at once.
#[test]
fn a_link_that_comes_back_is_used_after_one_heartbeat() {
    let (mut bench, mobile) = two_paths(mesh());
    down(&mut bench, node_address(1));
    bench.take();
    bench.pass(Duration::from_millis(10));
    up(&mut bench, node_address(1));
    let sent = bench.take();
    let heartbeat = sent.iter().find(|sent| sent.route == between(1, 1)).expect("a heartbeat at once");
    let Chunk::Heartbeat(heartbeat) = heartbeat.only() else { panic!("{heartbeat:?}") };
    assert_eq!(state(&bench, between(1, 1)), PathState::Inactive);
    bench.send(0, b"x");
    assert_eq!(bench.take_only().route.local, node_address(2));
    bench.deliver_on(between(1, 1), &mobile.packet(&[&HeartbeatAck { info: heartbeat.info }]));
    assert_eq!(state(&bench, between(1, 1)), PathState::Active);
    bench.deliver(&mobile.sack(mobile.node_tsn, 100_000));
    bench.send(0, b"y");
    assert_eq!(bench.take_only().route, between(1, 1));
    assert!(outcomes(&bench).is_empty() && remotes(&bench).len() == 2);
}

/// A heartbeat lost right after the link came up is repeated soon, and until one is answered nothing else goes there.
#[test]
fn the_first_heartbeat_of_a_link_that_comes_back_may_be_lost() {
    let (mut bench, _) = two_paths(whimbrel_proto::Config {
        failure: whimbrel_proto::FailureConfig {
            potentially_failed_max_retrans: Some(0),
            ..dynamic().failure
        },
        ..mesh()
    });
    swap(&mut bench, node_address(1), node_address(1));
    bench.take();
    bench.pass(Duration::from_millis(1100));
    let sent = bench.take();
    assert!(sent.iter().any(|sent| sent.route == between(1, 1)), "{sent:?}");
    assert_eq!(state(&bench, between(1, 1)), PathState::Inactive);
}

/// All links down: nothing is sent, no error is counted, and everything goes on where it was when one comes back.
#[test]
fn without_any_link_the_association_waits() {
    for config in [mesh(), dynamic()] {
        let (mut bench, mobile) = two_paths(config);
        bench.send(0, b"waits");
        bench.take();
        down(&mut bench, node_address(1));
        down(&mut bench, node_address(2));
        bench.take();
        bench.send(0, b"too");
        bench.shutdown();
        bench.pass(Duration::from_secs(3600));
        assert!(bench.take().is_empty());
        assert_eq!(bench.closed(), None);
        up(&mut bench, node_address(2));
        let sent = mobile.settle(&mut bench);
        let payloads: Vec<Vec<u8>> =
            sent.iter().flat_map(Sent::data).map(|data| data.payload.to_vec()).collect();
        assert_eq!(payloads, [b"waits".to_vec(), b"too".to_vec()]);
    }
}

fn about(interface: u8, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(interface.into()), fact }
}

/// Two paths, each of an interface of its own.
fn two_interfaces() -> (Bench, Mobile) {
    let (mut bench, mobile) = two_paths(mesh());
    for n in [1, 2] {
        bench.link(LinkFact::AddressOn { interface: InterfaceId(n.into()), address: node_address(n).ip() });
    }
    (bench, mobile)
}

/// A snapshot may show that much has changed: what has come is there before what has gone is missed.
#[test]
fn one_link_goes_and_another_comes_in_one_moment() {
    let (mut bench, mobile) = two_interfaces();
    bench.link(about(2, InterfaceFact::Down));
    bench.take();
    bench.send(0, b"x");
    assert_eq!(bench.take_only().route.local, node_address(1));
    bench.links(&[about(1, InterfaceFact::Down), about(2, InterfaceFact::Up(InterfaceKind::Wired))]);
    let sent = mobile.settle(&mut bench);
    assert!(!sent.is_empty() && sent.iter().all(|sent| sent.route.local == node_address(2)), "{sent:?}");
    assert!(sent.iter().flat_map(Sent::data).any(|data| data.payload == b"x"), "{sent:?}");
    // Each once: the address that is told, and the one that goes with its interface.
    bench.links(&[
        LinkFact::AddressDown(node_address(2)),
        about(2, InterfaceFact::Down),
        about(1, InterfaceFact::Up(InterfaceKind::Wired)),
    ]);
    bench.send(0, b"y");
    let sent = mobile.settle(&mut bench);
    assert!(!sent.is_empty() && sent.iter().all(|sent| sent.route.local == node_address(1)), "{sent:?}");
}

/// An address has got its route, and in the same moment its interface has lost its carrier.
#[test]
fn an_address_that_came_up_goes_down_with_its_interface() {
    let (mut bench, mobile) = two_interfaces();
    bench.links(&[LinkFact::AddressUp(node_address(1)), about(1, InterfaceFact::Down)]);
    bench.take();
    bench.send(0, b"x");
    bench.pass(Duration::from_secs(5));
    assert!(bench.take().iter().all(|sent| sent.route.local == node_address(2)));
    bench.link(about(1, InterfaceFact::Up(InterfaceKind::Wired)));
    let sent = mobile.settle(&mut bench);
    assert!(sent.iter().any(|sent| sent.route.local == node_address(1)), "{sent:?}");
}

/// SHUTDOWN and its acknowledgement wait for a link, too.
#[test]
fn a_shutdown_waits_for_a_link() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    down(&mut bench, node_address(1));
    bench.shutdown();
    bench.pass(Duration::from_secs(10));
    assert!(bench.take().is_empty());
    up(&mut bench, node_address(1));
    assert!(holds(&mobile.settle(&mut bench), chunk_type::SHUTDOWN));
}

/// But not for ever: nobody may have to remember an association that is over, only because it missed SHUTDOWN COMPLETE and
/// then all its links went down.
#[test]
fn an_association_that_is_over_does_not_wait_for_ever() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let shutdown = whimbrel_wire::Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() };
    bench.deliver(&mobile.packet(&[&shutdown]));
    assert!(holds(&bench.take(), chunk_type::SHUTDOWN_ACK));
    down(&mut bench, node_address(1));
    // T2-shutdown could have gone on so long: eleven times RTO.Max.
    bench.pass(Duration::from_secs(600));
    assert_eq!(bench.closed(), None);
    bench.pass(Duration::from_secs(61));
    assert_eq!(bench.closed(), Some(whimbrel_proto::CloseReason::Unreachable));
}

/// What is known to be lost is sent again at once.
#[test]
fn what_the_user_knows_to_be_lost_is_sent_again() {
    let (mut bench, _) = two_paths(mesh());
    bench.send(0, b"lost");
    let first = bench.take_only();
    let (association, id) = (bench.association(), path(&bench, first.route).unwrap().id);
    let cwnd = path(&bench, first.route).unwrap().cwnd;
    bench.command(Command::RetransmitLost { association, path: id });
    let again = bench.take_only();
    assert_ne!(again.route, first.route);
    assert_eq!(again.data()[0].payload, b"lost");
    assert_eq!(path(&bench, first.route).unwrap().cwnd, cwnd);
    assert_eq!(path(&bench, first.route).unwrap().flight_size, 0);
    bench.command(Command::RetransmitLost { association, path: id });
    assert!(bench.take().is_empty());
}

/// An address that is deleted leaves with its paths, and the user is told.
#[test]
fn the_paths_of_a_deleted_address_are_gone() {
    let (mut bench, mobile) = two_paths(mesh());
    let before = bench.paths().len();
    change(&mut bench, &[AddressChange::Delete(node_address(2).ip())]);
    let asconf = bench.take_only();
    mobile.grant(&mut bench, &asconf);
    assert_eq!(bench.paths().len(), before / 2);
    let gone = bench.events.iter().filter(|event| matches!(event, Event::PathGone { .. })).count();
    assert_eq!(gone, before / 2);
}

/// During the handshake: INIT goes out from the address that is left, and lists what there is.
#[test]
fn a_handshake_goes_on_from_another_address() {
    let mut bench = Bench::with_addresses(mesh(), 1);
    bench.connect(&[peer_address(1)]);
    assert_eq!(bench.take_only().route.local, node_address(1));
    up(&mut bench, node_address(2));
    down(&mut bench, node_address(1));
    bench.pass(Duration::ZERO);
    let init = bench.take_only();
    assert_eq!(init.route.local, node_address(2));
    let mut mobile = Mobile::new();
    mobile.auth.learn_init(&init);
    let parameters = mobile.auth.parameters();
    let mut all = vec![whimbrel_wire::Parameter::StateCookie(b"a cookie")];
    all.extend_from_slice(&parameters);
    let init_ack = mobile.init_ack(&all);
    bench.deliver_on(between(2, 1), &init_ack);
    assert_eq!(bench.take_only().route.local, node_address(2));
    bench.deliver_on(between(2, 1), &mobile.packet(&[&whimbrel_wire::CookieAck]));
    bench.send(0, b"up");
    assert!(bench.take().iter().all(|sent| sent.route.local == node_address(2)));
}

/// Links that flap during COOKIE-ECHOED.
#[test]
fn a_cookie_goes_out_again_from_an_address_that_the_init_listed() {
    let mut bench = Bench::with_addresses(mesh(), 2);
    bench.connect(&[peer_address(1)]);
    let mut mobile = Mobile::new();
    mobile.auth.learn_init(&bench.take_only());
    let own = mobile.auth.parameters();
    let mut all = vec![whimbrel_wire::Parameter::StateCookie(b"a cookie")];
    all.extend_from_slice(&own);
    bench.deliver(&mobile.init_ack(&all));
    assert_eq!(bench.take_only().route.local, node_address(1));
    down(&mut bench, node_address(1));
    bench.pass(Duration::ZERO);
    assert_eq!(bench.take_only().route.local, node_address(2));
    bench.deliver_on(between(2, 1), &mobile.packet(&[&whimbrel_wire::CookieAck]));
    assert_eq!(bench.ups(), 1);
    bench.pass(Duration::from_secs(5));
    assert!(bench.take().iter().all(|sent| sent.route.local == node_address(2)));
    up(&mut bench, node_address(1));
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(1, 1)), PathState::Active);
}

/// An address comes before its routes: what was sent meanwhile got nowhere. Told again that the address is up, the node repeats
/// the request at once, and no more than once.
#[test]
fn a_request_is_repeated_when_its_address_gets_a_way_out() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let (old, new) = (node_address(1), node_address(2));
    swap(&mut bench, old, new);
    change(&mut bench, &[AddressChange::Add(new), AddressChange::Delete(old.ip())]);
    let lost = bench.take_only();
    bench.pass(Duration::from_millis(10));
    up(&mut bench, new);
    let sent = bench.take_only();
    assert_eq!((sent.route, mobile.read_asconf(&sent)), (lost.route, mobile.read_asconf(&lost)));
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    up(&mut bench, new);
    assert!(bench.take().is_empty(), "nothing waits for a way");
}

/// The address that the node was about to leave is all that it has left. Nothing else can be asked before the request is answered, so
/// it leaves from there, and the peer's refusal (RFC 5061 §5.3 F8) takes the deletion back.
#[test]
fn a_deletion_is_asked_for_from_the_address_itself_when_there_is_no_other() {
    let (mut bench, mobile) = two_paths(mesh());
    let (one, two) = (node_address(1), node_address(2));
    change(&mut bench, &[AddressChange::Delete(one.ip())]);
    assert_eq!(bench.take_only().route.local, two);
    down(&mut bench, two);
    let sent = bench.take_only();
    assert_eq!(sent.route, between(1, 1));
    let (serial, _, requests) = mobile.read_asconf(&sent);
    let refusal = Parameter::ErrorCauseIndication(whimbrel_wire::ErrorCauseIndication {
        correlation_id: requests[0].1,
        causes: whimbrel_wire::Causes::from_wire(&[0, 0xA2, 0, 4]),
    });
    bench.deliver_on(sent.route, &mobile.ack(serial, &[refusal]));
    let refused = whimbrel_proto::AddressChangeError::RefusedByPeer(0xA2);
    assert_eq!(outcomes(&bench), [(AddressChange::Delete(one.ip()), Err(refused))]);
    mobile.settle(&mut bench);
    bench.send(0, b"on");
    assert_eq!(bench.take_only().route.local, one);
}

/// Decision 16: the address that is being deleted works again, and the only other one leads nowhere. The request leaves from the former
/// when it has been tried from the latter a few times.
#[test]
fn an_address_that_is_being_deleted_asks_when_all_others_are_tried_in_vain() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 2);
    change(&mut bench, &[AddressChange::Delete(node_address(1).ip())]);
    bench.pass(Duration::from_secs(30));
    let sent = bench.take();
    let tries: Vec<_> =
        sent.iter().filter(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).collect();
    let routes: Vec<_> = tries.iter().map(|sent| sent.route).collect();
    assert_eq!(routes[..2], [between(2, 1); 2]);
    assert!(routes.contains(&between(1, 1)), "{routes:?}");
    let from_there = tries.iter().find(|sent| sent.route == between(1, 1)).unwrap();
    mobile.grant(&mut bench, from_there);
    assert_eq!(outcomes(&bench), [(AddressChange::Delete(node_address(1).ip()), Ok(()))]);
}

/// Our address has gone, and two others reach the one that the peer advises: the quicker way is taken.
#[test]
fn advice_is_followed_by_the_quickest_way() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 3, &[1, 2]);
    let association = bench.association();
    for _ in 0..2 {
        for path in bench.paths() {
            bench.command(Command::RequestHeartbeat { association, path: path.id });
        }
        let (slow, quick): (Vec<_>, Vec<_>) =
            bench.take().into_iter().partition(|sent| sent.route.local == node_address(2));
        quick.iter().for_each(|sent| mobile.answer_heartbeats(&mut bench, sent));
        bench.pass(Duration::from_millis(150));
        slow.iter().for_each(|sent| mobile.answer_heartbeats(&mut bench, sent));
    }
    down(&mut bench, node_address(1));
    bench.deliver_on(between(2, 2), &mobile.asconf(&[set_primary(0, peer_address(2).ip())]));
    assert_eq!(primary(&bench), between(3, 2));
}
