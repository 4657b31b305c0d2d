//! What the peer asks for, and when it is refused (RFC 5061 §4.2, §4.3, §5.2 V1 to V5, §5.3 F5 to F14, §5.4).

use core::time::Duration;

use whimbrel_proto::{Event, PathState, PeerAddressChange, PeerRequests};
use whimbrel_wire::{Asconf, Chunk, EmitChunk, Parameter, Parameters, cause_code as code, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

const NO_RESPONSE: Vec<Response> = Vec::new();

/// F1, F14: an added address is unconfirmed. HEARTBEATs go there at once, nothing else until one is answered.
#[test]
fn an_added_address_is_unconfirmed_until_a_heartbeat_is_answered() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let sent = bench.ask(&mobile.asconf(&[add(7, peer_address(2).ip())]));
    assert_eq!(acks(&mobile, &sent), [(between(1, 1), mobile.initial_tsn.0, NO_RESPONSE)]);
    assert_eq!(news(&bench), [(peer_address(2).ip(), PeerAddressChange::Added)]);
    assert_eq!(state(&bench, between(1, 2)), PathState::Unconfirmed);
    for _ in 0..20 {
        bench.send(0, b"data");
    }
    let mut sent: Vec<Sent> = sent;
    sent.extend(bench.take());
    let there: Vec<&Sent> = sent.iter().filter(|sent| sent.route == between(1, 2)).collect();
    assert_eq!(there.len(), 1, "{there:?}");
    mobile.answer_heartbeats(&mut bench, there[0]);
    assert_eq!(state(&bench, between(1, 2)), PathState::Active);
}

/// The same with one path per destination.
#[test]
fn an_added_address_gets_one_path_per_destination() {
    let (mut bench, mut mobile) = Mobile::connected(dynamic(), 2);
    bench.deliver(&mobile.asconf(&[add(7, peer_address(2).ip())]));
    mobile.settle(&mut bench);
    assert_eq!(bench.paths().len(), 2);
    assert_eq!(state(&bench, between(2, 2)), PathState::Active);
}

/// F7.
#[test]
fn the_last_address_is_not_deleted() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let sent = bench.ask(&mobile.asconf(&[delete(9, peer_address(1).ip())]));
    assert_eq!(responses(&mobile, &sent), [(9, code::DELETE_LAST_ADDRESS)]);
    assert_eq!(remotes(&bench), [peer_address(1).ip()]);
    assert_alive(&mut bench, &mobile.auth.peer);
}

/// F8. The last one is refused with the other cause.
#[test]
fn the_source_address_is_not_deleted() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    let sent = bench.ask(&mobile.asconf(&[delete(3, peer_address(1).ip())]));
    assert_eq!(responses(&mobile, &sent), [(3, code::DELETE_SOURCE_ADDRESS)]);
    assert_eq!(remotes(&bench).len(), 2);
}

/// RFC 5061 §4.3.1: the request is quoted whole.
#[test]
fn a_refusal_quotes_the_request() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let request = delete(0x0102_0304, peer_address(1).ip());
    let sent = bench.ask(&mobile.asconf(&[request]));
    let quoted = sent.iter().flat_map(Sent::chunks).find_map(|chunk| match chunk {
        Chunk::AsconfAck(ack) => Some(ack.parameters.as_bytes().to_vec()),
        _ => None,
    });
    let mut wanted = vec![0xc0, 3, 0, 28, 1, 2, 3, 4, 0, 0xa0, 0, 20];
    request.emit(&mut wanted);
    assert_eq!(quoted.unwrap(), wanted);
}

/// F9, F11: no room for one address, and every addition or deletion behind it in the chunk fails with it. A set primary
/// does not.
#[test]
fn without_room_an_addition_and_all_changes_behind_it_are_refused() {
    let mut config = mesh();
    config.limits.peer_addresses = 2;
    let (mut bench, mut mobile) = Mobile::connected(config, 1);
    let sent = bench.ask(&mobile.asconf(&[
        add(0, peer_address(2).ip()),
        add(1, peer_address(3).ip()),
        delete(2, peer_address(2).ip()),
        set_primary(3, peer_address(1).ip()),
        add(4, peer_address(2).ip()),
    ]));
    let shortage = code::RESOURCE_SHORTAGE;
    assert_eq!(responses(&mobile, &sent), [(1, shortage), (2, shortage), (3, 0), (4, shortage)]);
    assert_eq!(remotes(&bench), [peer_address(1).ip(), peer_address(2).ip()]);
}

/// F9 for paths: an address without a path would be of no use.
#[test]
fn without_room_for_a_path_an_addition_is_refused() {
    let mut config = mesh();
    config.limits.paths = 2;
    let (mut bench, mut mobile) = Mobile::connected(config, 2);
    let sent = bench.ask(&mobile.asconf(&[add(1, peer_address(3).ip())]));
    assert_eq!(responses(&mobile, &sent), [(1, code::RESOURCE_SHORTAGE)]);
}

/// RFC 5061 §4.3.5: the user lets the peer change nothing.
#[test]
fn unauthorized_requests_are_refused() {
    let mut config = mesh();
    config.dar.peer_requests = PeerRequests::Refuse;
    let (mut bench, mut mobile) = Mobile::connected_with(config, 1, &[1, 2]);
    let requests =
        [set_primary(0, peer_address(2).ip()), add(1, peer_address(3).ip()), delete(2, peer_address(2).ip())];
    for (id, request) in requests.into_iter().enumerate() {
        let sent = bench.ask(&mobile.asconf(&[request]));
        assert_eq!(responses(&mobile, &sent), [(id as u32, code::NO_AUTHORIZATION)]);
    }
    assert_eq!(remotes(&bench).len(), 2);
    assert_eq!(news(&bench), []);
}

/// RFC 5061 §6: who fears somebody on the path does not let a wildcard decide.
#[test]
fn wildcards_can_be_refused() {
    let mut config = mesh();
    config.dar.peer_requests = PeerRequests::RefuseWildcards;
    let (mut bench, mut mobile) = Mobile::connected_with(config, 1, &[1, 2]);
    for request in [add(0, ip("0.0.0.0")), delete(0, ip("0.0.0.0")), set_primary(0, ip("::"))] {
        let sent = bench.ask(&mobile.asconf(&[request]));
        assert_eq!(responses(&mobile, &sent), [(0, code::NO_AUTHORIZATION)]);
    }
    let sent = bench.ask(&mobile.asconf(&[add(0, peer_address(3).ip())]));
    assert_eq!(responses(&mobile, &sent), NO_RESPONSE);
}

/// RFC 5061 §4.2.1, §4.2.2: neither broadcast nor multicast; nor what means something on one link or host only, nor a family
/// that we cannot send to.
#[test]
fn addresses_that_cannot_be_the_peers_are_refused() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let useless = [
        "224.0.0.1",
        "255.255.255.255",
        "127.0.0.1",
        "169.254.1.1",
        "ff02::1",
        "::1",
        "fe80::1",
        "2001:db8::1",
    ];
    for address in useless {
        let sent = bench.ask(&mobile.asconf(&[add(5, ip(address))]));
        assert_eq!(responses(&mobile, &sent), [(5, code::UNRESOLVABLE_ADDRESS)], "{address}");
    }
    assert_eq!(remotes(&bench), [peer_address(1).ip()]);
    assert_eq!(news(&bench), []);
}

#[test]
fn deleting_or_preferring_an_address_that_is_not_there_is_refused() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    let sent = bench.ask(&mobile.asconf(&[set_primary(1, ip("10.9.9.9")), delete(2, ip("10.9.9.9"))]));
    assert_eq!(responses(&mobile, &sent), [(1, code::UNRESOLVABLE_ADDRESS), (2, code::UNRESOLVABLE_ADDRESS)]);
    assert_eq!(primary(&bench), between(1, 1));
}

/// Adding what is there already is no error: the answer to the first request may have been lost with a restart of the
/// peer's user, and the address is where it should be.
#[test]
fn adding_an_address_twice_changes_nothing() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    for _ in 0..2 {
        let sent = bench.ask(&mobile.asconf(&[add(1, peer_address(2).ip())]));
        assert_eq!(responses(&mobile, &sent), NO_RESPONSE);
    }
    assert_eq!(news(&bench).len(), 1);
    assert_eq!(bench.paths().len(), 2);
}

/// F13: what comes from a deleted address afterwards does not belong to the association, and nothing goes there.
#[test]
fn a_deleted_address_is_no_longer_part_of_the_association() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    assert_eq!(state(&bench, between(1, 2)), PathState::Active);
    let sent = bench.ask(&mobile.asconf(&[delete(1, peer_address(2).ip())]));
    assert_eq!(responses(&mobile, &sent), NO_RESPONSE);
    assert_eq!(news(&bench), [(peer_address(2).ip(), PeerAddressChange::Deleted)]);
    assert!(bench.events.iter().any(|event| matches!(event, Event::PathGone { .. })));
    let data = mobile.data(0, 0, b"late");
    bench.deliver_on(between(1, 2), &mobile.packet(&[&data]));
    assert!(bench.received().is_empty());
    bench.pass(Duration::from_secs(100));
    assert!(bench.take().iter().all(|sent| sent.route.remote != peer_address(2)));
}

/// F13: what was in flight to a deleted address goes out again elsewhere at once, and the SACK for what had come from there
/// goes elsewhere, too.
#[test]
fn what_was_in_flight_to_a_deleted_address_is_sent_elsewhere() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    let id = path(&bench, between(1, 2)).unwrap().id;
    let association = bench.association();
    bench.command(whimbrel_proto::Command::SetPrimary { association, path: id });
    bench.send(0, b"first");
    assert_eq!(bench.take_only().route, between(1, 2));
    let data = mobile.data(0, 0, b"to be acknowledged");
    bench.deliver_on(between(1, 2), &mobile.packet(&[&data]));
    bench.take();
    let data = mobile.data(0, 1, b"to be acknowledged later");
    bench.deliver_on(between(1, 2), &mobile.packet(&[&data]));
    let sent = bench.ask(&mobile.asconf(&[delete(1, peer_address(2).ip())]));
    assert!(sent.iter().all(|sent| sent.route == between(1, 1)), "{sent:?}");
    let again: Vec<&[u8]> = sent.iter().flat_map(Sent::data).map(|data| data.payload).collect();
    assert_eq!(again, [b"first"]);
    bench.pass(Duration::from_millis(300));
    let mut all = sent;
    all.extend(bench.take());
    assert!(holds(&all, chunk_type::SACK));
    assert!(all.iter().all(|sent| sent.route == between(1, 1)));
    let path = path(&bench, between(1, 1)).unwrap();
    assert!(path.primary && path.in_use && path.flight_size > 0);
    bench.deliver(&mobile.sack(mobile.node_tsn, 100_000));
    assert_eq!(bench.paths()[0].flight_size, 0);
    bench.pass(Duration::from_secs(2));
    assert!(!holds(&bench.take(), chunk_type::DATA));
}

/// RFC 5061 §4.2.1, §4.2.2, §4.2.4: the wildcard is the source address of the packet.
#[test]
fn wildcards_mean_the_source_address() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2, 3]);
    let anything = ip("0.0.0.0");
    let packet = mobile.asconf(&[add(1, anything), set_primary(2, anything), delete(3, anything)]);
    bench.deliver_on(between(1, 4), &packet);
    let sent = mobile.settle(&mut bench);
    assert_eq!(acks(&mobile, &sent), [(between(1, 4), mobile.serial - 1, NO_RESPONSE)]);
    assert_eq!(remotes(&bench), [peer_address(4).ip()]);
    assert_eq!(primary(&bench), between(1, 4));
    bench.send(0, b"here");
    assert_eq!(bench.take_only().route, between(1, 4));
}

/// Wildcard and explicit in one chunk, in which other stacks have come to use what they had freed.
#[test]
fn wildcard_and_explicit_requests_in_one_chunk() {
    let anything = ip("0.0.0.0");
    let two = peer_address(2).ip();
    let three = peer_address(3).ip();
    type Case = (Vec<Parameter<'static>>, Vec<Response>, Vec<u8>);
    let cases: [Case; 5] = [
        (vec![delete(1, two), delete(2, anything)], vec![], vec![1]),
        (vec![delete(1, anything), delete(2, two)], vec![(2, code::UNRESOLVABLE_ADDRESS)], vec![1]),
        (vec![delete(1, anything), add(2, two), delete(3, anything)], vec![], vec![1]),
        (vec![delete(1, two), set_primary(2, anything), add(3, three)], vec![], vec![1, 3]),
        (vec![delete(1, anything), set_primary(2, two)], vec![(2, code::UNRESOLVABLE_ADDRESS)], vec![1]),
    ];
    for (requests, wanted, left) in cases {
        let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 2, &[1, 2]);
        bench.send(0, &[1; 5000]);
        let sent = bench.ask(&mobile.asconf(&requests));
        assert_eq!(responses(&mobile, &sent), wanted, "{requests:?}");
        let left: Vec<_> = left.into_iter().map(|n| peer_address(n).ip()).collect();
        assert_eq!(remotes(&bench), left, "{requests:?}");
        bench.pass(Duration::from_secs(3));
        assert_alive(&mut bench, &mobile.auth.peer);
    }
}

/// RFC 5061 §4.2.2: deleting all but an address that is not part of the association would delete all.
#[test]
fn a_wildcard_deletion_from_a_foreign_address_is_refused() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    let packet = mobile.asconf(&[delete(1, ip("0.0.0.0"))]);
    bench.deliver_on(between(1, 5), &packet);
    let sent = bench.take();
    assert_eq!(responses(&mobile, &sent), [(1, code::DELETE_LAST_ADDRESS)]);
    assert_eq!(remotes(&bench).len(), 2);
}

/// RFC 5061 §5.4, V1: requests are carried out in order, so that a set primary before the addition is refused and one behind
/// it is not. All orders of the three requests of a host that moves, from its old address and from its new one.
#[test]
fn requests_are_carried_out_in_every_order() {
    let new = peer_address(2).ip();
    let old = peer_address(1).ip();
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (order, from_new) in orders.into_iter().flat_map(|order| [(order, false), (order, true)]) {
        let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
        let requests = [add(0, new), delete(1, old), set_primary(2, new)];
        let requests: Vec<Parameter<'_>> = order.iter().map(|&n| requests[n]).collect();
        let position = |n| order.iter().position(|&other| other == n).unwrap();
        // What the rules say.
        let deleted_first = position(1) < position(0);
        let mut wanted: Vec<Response> = Vec::new();
        for n in order {
            let cause = match n {
                0 if deleted_first => code::RESOURCE_SHORTAGE,
                1 if deleted_first => code::DELETE_LAST_ADDRESS,
                1 if !from_new => code::DELETE_SOURCE_ADDRESS,
                2 if deleted_first || position(2) < position(0) => code::UNRESOLVABLE_ADDRESS,
                _ => 0,
            };
            if cause != 0 || !wanted.is_empty() {
                wanted.push((n as u32, cause));
            }
        }
        let packet = mobile.asconf(&requests);
        bench.deliver_on(if from_new { between(1, 2) } else { between(1, 1) }, &packet);
        let sent = mobile.settle(&mut bench);
        assert_eq!(responses(&mobile, &sent), wanted, "{order:?} {from_new}");
        let made_primary = news(&bench).contains(&(new, PeerAddressChange::MadePrimary));
        assert_eq!(made_primary, !deleted_first && position(0) < position(2), "{order:?}");
        bench.send(0, b"still there");
        assert!(holds(&bench.take(), chunk_type::DATA));
    }
}

/// RFC 5061 §5.4: the peer's advice is followed as soon as a path to the address works, and not before.
#[test]
fn an_unconfirmed_address_becomes_primary_once_it_is_confirmed() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let new = peer_address(2).ip();
    let sent = bench.ask(&mobile.asconf(&[add(0, new), set_primary(1, new)]));
    assert_eq!(responses(&mobile, &sent), NO_RESPONSE);
    assert_eq!(primary(&bench), between(1, 1));
    bench.send(0, b"old");
    assert_eq!(bench.take_only().route, between(1, 1));
    let heartbeat = sent.iter().find(|sent| sent.route == between(1, 2)).unwrap();
    mobile.answer_heartbeats(&mut bench, heartbeat);
    assert_eq!(primary(&bench), between(1, 2));
    assert_eq!(news(&bench).last(), Some(&(new, PeerAddressChange::MadePrimary)));
}

/// V2: what is not understood is reported or not, and ends the chunk or not, as its type says.
#[test]
fn unknown_requests_are_reported_as_their_type_says() {
    for (kind, reported, stops) in
        [(0x4abc, true, true), (0x0abc, false, true), (0xcabc, true, false), (0x8abc, false, false)]
    {
        let (mut bench, mobile) = Mobile::connected(mesh(), 1);
        let [high, low] = u16::to_be_bytes(kind);
        let mut requests = vec![high, low, 0, 12, 0, 0, 0, 9, 1, 2, 3, 4];
        add(1, peer_address(2).ip()).emit(&mut requests);
        let asconf = Asconf {
            sequence_number: mobile.serial,
            address: peer_address(1).ip(),
            parameters: Parameters::from_wire(&requests),
        };
        let sent = bench.ask(&mobile.signed(&[&asconf]));
        let mut wanted = Vec::new();
        if reported {
            wanted.push((9, code::UNRECOGNIZED_PARAMETERS));
        }
        if reported && !stops {
            wanted.push((1, 0));
        }
        assert_eq!(responses(&mobile, &sent), wanted, "{kind:#x}");
        assert_eq!(remotes(&bench).len(), if stops { 1 } else { 2 });
    }
}

/// RFC 5061 §4.2: a parameter where it does not belong is ignored.
#[test]
fn misplaced_parameters_are_ignored() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let sent = bench.ask(&mobile.asconf(&[
        Parameter::SuccessIndication(1),
        Parameter::HostName(b"host\0"),
        Parameter::AdaptationLayerIndication(4),
        add(1, peer_address(2).ip()),
    ]));
    assert_eq!(responses(&mobile, &sent), NO_RESPONSE);
    assert_eq!(remotes(&bench).len(), 2);
}

/// RFC 4895 §6.2: the answer is authenticated, and nothing but AUTH and what it covers is in the packet.
#[test]
fn the_answer_is_authenticated() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let sent = bench.ask(&mobile.asconf(&[delete(1, peer_address(1).ip())]));
    let answer = sent.iter().find(|sent| holds(&[(*sent).clone()], chunk_type::ASCONF_ACK)).unwrap();
    let (before, behind) = mobile.opened(answer);
    assert_eq!((before, behind), (vec![], vec![chunk_type::ASCONF_ACK]));
    let _ = encoded_chunk as fn(&dyn EmitChunk) -> Vec<u8>;
}
