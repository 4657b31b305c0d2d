//! A host with one address that has lost it and got another (RFC 5061 §5.2 D2, §5.3.2).

use core::time::Duration;

use whimbrel_proto::AddressChange::{Add, Delete, SetPrimary};
use whimbrel_proto::{AddressChangeError as Error, PathState, PeerAddressChange};
use whimbrel_wire::{AsconfBuilder, Chunk, chunk_type, parameter_type as kind};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// D2, E6, RFC 5061 §5.3.2: the request comes from an address nobody knows and names the old one. It is found, carried out, and
/// answered to where it came from; data goes there as soon as that is confirmed.
#[test]
fn a_peer_that_has_moved_is_found_by_its_old_address() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    bench.send(0, b"lost on the way to the old address");
    bench.take();
    let (old, new) = (peer_address(1).ip(), peer_address(2).ip());
    let packet = mobile.asconf(&[add(0, new), delete(1, old), set_primary(2, new)]);
    bench.deliver_on(between(1, 2), &packet);
    let sent = bench.take();
    assert_eq!(acks(&mobile, &sent), [(between(1, 2), mobile.serial - 1, vec![])]);
    assert!(sent.iter().all(|sent| sent.route == between(1, 2)), "{sent:?}");
    assert!(!holds(&sent, chunk_type::DATA), "not confirmed yet");
    assert_eq!(state(&bench, between(1, 2)), PathState::Unconfirmed);
    assert_eq!(sent.len(), 1, "the HEARTBEAT goes with the answer: {sent:?}");
    mobile.answer_heartbeats(&mut bench, &sent[0]);
    let data = bench.take_only();
    assert_eq!(
        (data.route, data.data()[0].payload),
        (between(1, 2), &b"lost on the way to the old address"[..])
    );
    let made = news(&bench).into_iter().map(|(_, change)| change).collect::<Vec<_>>();
    use PeerAddressChange::{Added, Deleted, MadePrimary};
    assert_eq!(made, [Added, Deleted, MadePrimary]);
}

/// The answer was lost: the request comes again from the new address, which is known by now.
#[test]
fn a_repeated_request_of_a_peer_that_has_moved_is_answered_again() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let (old, new) = (peer_address(1).ip(), peer_address(2).ip());
    let packet = mobile.asconf(&[add(0, new), delete(1, old), set_primary(2, new)]);
    for _ in 0..3 {
        bench.deliver_on(between(1, 2), &packet);
        let sent = bench.take();
        assert_eq!(acks(&mobile, &sent), [(between(1, 2), mobile.serial - 1, vec![])]);
    }
    assert_eq!(remotes(&bench), [new]);
}

/// B4, E2: the answer was lost, and by now the peer is somewhere else. It must repeat its request as it was, which names an
/// address that this very request has deleted. It gets its answer there, and nothing else happens.
#[test]
fn a_peer_that_moves_on_before_it_has_its_answer_is_answered_there() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let (old, new) = (peer_address(1).ip(), peer_address(2).ip());
    let packet = mobile.asconf(&[add(0, new), delete(1, old), set_primary(2, new)]);
    bench.deliver_on(between(1, 2), &packet);
    bench.take();
    for _ in 0..2 {
        bench.deliver_on(between(1, 3), &packet);
        assert_eq!(acks(&mobile, &bench.take()), [(between(1, 3), mobile.serial - 1, vec![])]);
        assert_eq!(remotes(&bench), [new]);
    }
    // A new request that names it leads nowhere.
    let packet = mobile.clone().asconf_naming(old, &[add(0, peer_address(3).ip())]);
    bench.deliver_on(between(1, 3), &packet);
    assert!(bench.take().is_empty());
    // The one that names what the peer knows by now does.
    let packet = mobile.asconf_naming(new, &[add(0, peer_address(3).ip()), delete(1, new)]);
    bench.deliver_on(between(1, 3), &packet);
    assert_eq!(acks(&mobile, &bench.take()).len(), 1);
    assert_eq!(remotes(&bench), [peer_address(3).ip()]);
}

/// A node whose request to add its second address is out, and the number of the request.
fn adding_a_second_address() -> (Bench, Mobile, u32) {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    gain(&mut bench, node_address(2));
    let request =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF));
    let (serial, ..) = mobile.read_asconf(&request.unwrap());
    (bench, mobile, serial)
}

/// F1: the peer knows the new address, its answer was lost with the old one, and its HEARTBEAT is there before the repeated answer.
/// Nothing may leave from there yet; then the HEARTBEAT is answered at once, for the peer would ask again only after its RTO.
#[test]
fn a_heartbeat_that_comes_before_the_acknowledgement_is_answered_after_it() {
    let (mut bench, mobile, serial) = adding_a_second_address();
    down(&mut bench, node_address(1));
    bench.take();
    let heartbeat = |info: &'static [u8]| mobile.packet(&[&whimbrel_wire::Heartbeat { info }]);
    bench.deliver_on(between(2, 1), &heartbeat(b"lost"));
    bench.deliver_on(between(2, 1), &heartbeat(b"last"));
    assert!(!holds(&bench.take(), chunk_type::HEARTBEAT_ACK), "not before the acknowledgement");
    bench.deliver_on(between(2, 1), &mobile.ack(serial, &[]));
    let answered: Vec<(whimbrel_machine::Route, Vec<u8>)> = bench.take().iter().flat_map(answers).collect();
    assert_eq!(answered, [(between(2, 1), b"last".to_vec())]);
}

/// By then the peer has asked again, and would take the time that the answer waited for a round trip (RFC 9260 §8.3).
#[test]
fn a_heartbeat_that_came_long_before_the_acknowledgement_is_not_answered() {
    for (waits, answers) in [(Duration::from_millis(900), true), (Duration::from_secs(20), false)] {
        let (mut bench, mobile, serial) = adding_a_second_address();
        down(&mut bench, node_address(1));
        bench.take();
        bench.deliver_on(between(2, 1), &mobile.packet(&[&whimbrel_wire::Heartbeat { info: b"old" }]));
        bench.pass(waits);
        bench.take();
        bench.deliver_on(between(2, 1), &mobile.ack(serial, &[]));
        assert_eq!(holds(&bench.take(), chunk_type::HEARTBEAT_ACK), answers, "after {waits:?}");
    }
}

/// Where another address still has a way, the answer leaves by that, once.
#[test]
fn a_heartbeat_that_comes_before_the_acknowledgement_is_answered_elsewhere_if_that_can_be() {
    let (mut bench, mobile, serial) = adding_a_second_address();
    bench.deliver_on(between(2, 1), &mobile.packet(&[&whimbrel_wire::Heartbeat { info: b"early" }]));
    let answered: Vec<_> = bench.take().iter().flat_map(answers).collect();
    assert_eq!(answered, [(between(1, 1), b"early".to_vec())]);
    bench.deliver_on(between(1, 1), &mobile.ack(serial, &[]));
    assert!(!holds(&bench.take(), chunk_type::HEARTBEAT_ACK));
}

/// The HEARTBEATs that a packet answers, and where.
fn answers(sent: &Sent) -> Vec<(whimbrel_machine::Route, Vec<u8>)> {
    let answer = |chunk: &Chunk<'_>| match chunk {
        Chunk::HeartbeatAck(ack) => Some((sent.route, ack.info.to_vec())),
        _ => None,
    };
    sent.chunks().iter().filter_map(answer).collect()
}

/// B3, B5: each address of the peer has an RTO of its own, so that trying one after the other takes no longer and longer.
#[test]
fn a_node_that_has_moved_tries_every_address_of_the_peer_soon() {
    let (mut bench, _) = Mobile::connected_with(dynamic(), 1, &[1, 2, 3]);
    swap(&mut bench, node_address(1), node_address(2));
    bench.take();
    change(&mut bench, &[Add(node_address(2)), Delete(node_address(1).ip())]);
    bench.pass(Duration::from_secs(8));
    let sent = bench.take();
    let tries: Vec<_> =
        sent.iter().filter(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).collect();
    let to: Vec<_> = tries.iter().map(|sent| sent.route.remote).collect();
    let all = [peer_address(1), peer_address(2), peer_address(3)];
    assert_eq!(to[..6], [all, all].concat());
    let waits: Vec<_> = tries.windows(2).map(|two| two[1].at.saturating_since(two[0].at).as_secs()).collect();
    assert_eq!(waits[..5], [1, 1, 1, 2, 2]);
}

/// Links that go down one after the other under a request are no timeouts: the last address does not wait for their sake.
#[test]
fn links_that_go_down_do_not_back_off_the_request() {
    let (mut bench, mobile) = Mobile::connected_with(mesh(), 4, &[1]);
    bench.pass(Duration::from_secs(1));
    mobile.settle(&mut bench);
    change(&mut bench, &[Add(node_address(5))]);
    change(&mut bench, &[SetPrimary(node_address(2).ip())]);
    (1..=4).for_each(|n| down(&mut bench, node_address(n)));
    gain(&mut bench, node_address(6));
    bench.take();
    bench.pass(Duration::from_secs(2));
    let sent = bench.take();
    assert!(sent.iter().any(|sent| sent.route == between(6, 1)), "{sent:?}");
}

/// RFC 5061 §4.1.1: the wildcard as the address to look up leaves that to the tag.
#[test]
fn a_peer_that_has_moved_is_found_by_its_tag_if_it_names_no_address() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let packet = mobile.asconf_naming(ip("0.0.0.0"), &[add(0, ip("0.0.0.0"))]);
    bench.deliver_on(between(1, 2), &packet);
    assert_eq!(acks(&mobile, &bench.take()).len(), 1);
    assert_eq!(remotes(&bench).len(), 2);
}

/// With one path per destination the new address is answered from where its request came to: other addresses of the node may
/// not work, and whoever has just moved has no other path.
#[test]
fn a_peer_that_has_moved_is_reached_from_where_it_was_heard() {
    for local in 1..=3 {
        let (mut bench, mut mobile) = Mobile::connected(dynamic(), 3);
        let requests = [add(0, peer_address(2).ip()), delete(1, peer_address(1).ip())];
        bench.deliver_on(between(local, 2), &mobile.asconf(&requests));
        let routes: Vec<_> = bench.paths().iter().map(|path| path.route).collect();
        assert_eq!(routes, [between(local, 2)]);
    }
}

/// D3: naming an address that is not the peer's leads nowhere.
#[test]
fn a_stranger_that_names_a_foreign_address_is_ignored() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    for named in [peer_address(2).ip(), peer_address(3).ip(), ip("2001:db8::1")] {
        let packet = mobile.clone().asconf_naming(named, &[add(0, peer_address(2).ip())]);
        bench.deliver_on(between(1, 2), &packet);
        assert!(bench.take().is_empty(), "{named}");
    }
    assert_eq!(remotes(&bench).len(), 1);
    assert_eq!(acks(&mobile.clone(), &bench.ask(&mobile.asconf(&[]))).len(), 1);
}

/// D5: what else is in the packet of a stranger counts only once it has been added.
#[test]
fn the_rest_of_a_strangers_packet_counts_once_it_is_no_stranger() {
    for adds in [true, false] {
        let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
        let (early, late) = (mobile.data(0, 0, b"early"), mobile.data(0, 1, b"late"));
        let requests = if adds { vec![add(0, peer_address(2).ip())] } else { vec![] };
        let chunk = AsconfBuilder {
            sequence_number: mobile.serial,
            address: peer_address(1).ip(),
            parameters: &requests,
        };
        let packet = mobile.signed_behind(&[&early], &[&chunk, &late]);
        bench.deliver_on(between(1, 2), &packet);
        assert!(bench.received().is_empty());
        bench.deliver(&mobile.packet(&[&early]));
        let wanted: &[&[u8]] = if adds { &[b"early", b"late"] } else { &[b"early"] };
        assert_eq!(bench.received(), wanted);
    }
}

/// The node has moved: without any address that the peer knows, the request leaves from the new one and names the old
/// one, in the order add, delete, set primary. The answer confirms the way it took: data goes out at once.
#[test]
fn the_node_moves_with_its_only_address() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let (old, new) = (node_address(1), node_address(2));
    bench.send(0, b"in flight");
    bench.take();
    down(&mut bench, old);
    bench.send(0, b"nowhere to go");
    bench.pass(Duration::from_secs(20));
    assert!(bench.take().is_empty(), "nothing leaves from an address that is down");
    up(&mut bench, new);
    assert!(bench.take().is_empty(), "nor from one that the peer does not know");
    change(&mut bench, &[Add(new), Delete(old.ip()), SetPrimary(new.ip())]);
    let asconf = bench.take_only();
    assert_eq!(asconf.route, between(2, 1));
    let (_, address, requests) = mobile.read_asconf(&asconf);
    assert_eq!(address, old.ip());
    let kinds: Vec<u16> = requests.iter().map(|&(kind, ..)| kind).collect();
    assert_eq!(kinds, [kind::ADD_IP_ADDRESS, kind::DELETE_IP_ADDRESS, kind::SET_PRIMARY_ADDRESS]);
    bench.pass(Duration::from_millis(100));
    mobile.grant(&mut bench, &asconf);
    let data: Vec<Vec<u8>> = bench
        .take()
        .iter()
        .flat_map(|sent| sent.data().iter().map(|d| d.payload.to_vec()).collect::<Vec<_>>())
        .collect();
    assert_eq!(data, [b"in flight".to_vec(), b"nowhere to go".to_vec()]);
    assert!(bench.paths().iter().all(|path| path.route == between(2, 1) && path.state == PathState::Active));
    assert_eq!(bench.paths()[0].srtt, Some(Duration::from_millis(100)));
    assert!(outcomes(&bench).iter().all(|(_, outcome)| outcome.is_ok()));
}

/// The same with one path per destination.
#[test]
fn the_node_moves_with_one_path_per_destination() {
    let (mut bench, mobile) = Mobile::connected(dynamic(), 1);
    let (old, new) = (node_address(1), node_address(2));
    swap(&mut bench, old, new);
    change(&mut bench, &[Add(new), Delete(old.ip()), SetPrimary(new.ip())]);
    let asconf = bench.take_only();
    assert_eq!(asconf.route, between(2, 1));
    mobile.grant(&mut bench, &asconf);
    bench.send(0, b"on");
    assert!(bench.take().iter().any(|sent| sent.route == between(2, 1) && !sent.data().is_empty()));
    assert_eq!(bench.paths().len(), 1);
}

/// The old address has failed without a word: the repetition comes from the new one (B4).
#[test]
fn when_the_old_address_does_not_answer_the_new_one_asks() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    gain(&mut bench, node_address(2));
    assert_eq!(bench.take_only().route, between(1, 1));
    bench.pass(Duration::from_millis(1001));
    let again =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    assert_eq!(again.route, between(2, 1));
    mobile.grant(&mut bench, &again);
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Ok(()))]);
    assert_eq!(state(&bench, between(2, 1)), PathState::Active);
}

/// RFC 5061 §5.1 B4, §5.2: two networks have come up, and the first leads nowhere. What adds its address cannot be taken back, but it can
/// leave from the second.
#[test]
fn when_a_new_address_leads_nowhere_the_next_one_asks() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let [old, dead, new] = [1, 2, 3].map(node_address);
    swap(&mut bench, old, dead);
    up(&mut bench, new);
    change(&mut bench, &[Add(dead), Delete(old.ip()), SetPrimary(dead.ip())]);
    change(&mut bench, &[Add(new)]);
    let asconf = |bench: &mut Bench| {
        let sent = bench.take();
        sent.into_iter()
            .filter(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF))
            .collect::<Vec<_>>()
    };
    let first = asconf(&mut bench);
    assert_eq!(first.iter().map(|sent| sent.route).collect::<Vec<_>>(), [between(2, 1)]);
    bench.pass(Duration::from_secs(5));
    let again = asconf(&mut bench);
    let from_there = again.iter().find(|sent| sent.route == between(3, 1)).unwrap();
    assert!(from_there.bytes == first[0].bytes);
    mobile.grant(&mut bench, from_there);
    bench.pass(Duration::from_secs(5));
    let next = asconf(&mut bench).into_iter().find(|sent| sent.route == between(3, 1)).unwrap();
    mobile.grant(&mut bench, &next);
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(3, 1)), PathState::Active);
    assert!(outcomes(&bench).iter().all(|(_, outcome)| outcome.is_ok()));
}

/// The link goes down while a request is under way from there: it goes out again from elsewhere at once.
#[test]
fn a_request_under_way_from_an_address_that_goes_down_is_repeated_from_elsewhere() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    gain(&mut bench, node_address(2));
    let first = bench.take_only();
    down(&mut bench, node_address(1));
    let again = bench.take_only();
    assert_eq!((again.route, again.bytes == first.bytes), (between(2, 1), true));
    mobile.grant(&mut bench, &again);
    assert_eq!(state(&bench, between(2, 1)), PathState::Active);
}

/// A user who deletes before adding has nothing left to send from: the deletion is refused, the rest goes on.
#[test]
fn deleting_before_adding_is_refused() {
    let (mut bench, _) = Mobile::connected(mesh(), 1);
    let (old, new) = (node_address(1), node_address(2));
    swap(&mut bench, old, new);
    change(&mut bench, &[Delete(old.ip()), Add(new)]);
    assert_eq!(outcomes(&bench), [(Delete(old.ip()), Err(Error::LastAddress))]);
    assert_eq!(bench.take_only().route, between(2, 1));
}

/// Twenty moves in a row: addresses, paths and numbers stay bounded.
#[test]
fn a_peer_that_moves_and_moves_is_followed() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    for n in 2..40 {
        let (old, new) = (peer_address(n - 1).ip(), peer_address(n).ip());
        let packet = mobile.asconf_naming(old, &[add(0, new), delete(1, old), set_primary(2, new)]);
        bench.deliver_on(between(1, n), &packet);
        mobile.settle(&mut bench);
        bench.pass(Duration::from_secs(1));
        mobile.settle(&mut bench);
        assert_eq!(remotes(&bench), [new]);
        bench.send(0, b"x");
        let sent = bench.take_only();
        assert_eq!(sent.route, between(1, n));
        bench.deliver_on(between(1, n), &mobile.sack(sent.data()[0].tsn, 100_000));
    }
}
