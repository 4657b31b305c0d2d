//! The peer's answers to the node (RFC 5061 §4.3.4, §5.1 A5 to A9, §5.3 F0, F3, F10).

use core::time::Duration;

use whimbrel_proto::AddressChange::{Add, Delete, SetPrimary};
use whimbrel_proto::{AddressChange, AddressChangeError as Error, Mobility, StaticReason};
use whimbrel_wire::{
    Cause, Causes, ErrorBuilder, ErrorCauseIndication, Parameter, Parameters, cause_code as code, chunk_type,
};

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn failure(causes: &[u8], correlation_id: u32) -> Parameter<'_> {
    Parameter::ErrorCauseIndication(ErrorCauseIndication {
        correlation_id,
        causes: Causes::from_wire(causes),
    })
}

/// A node with addresses 1 and 2 in the association and 3 up; the ASCONF of these changes.
fn asked(changes: &[AddressChange]) -> (Bench, Mobile, Sent) {
    let (mut bench, mobile) = Mobile::connected_with(mesh(), 2, &[]);
    up(&mut bench, node_address(3));
    bench.take();
    change(&mut bench, changes);
    let asconf =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    (bench, mobile, asconf)
}

fn address(n: u8) -> core::net::IpAddr {
    node_address(n).ip()
}

/// A7, A8: silence is success before the first failure and failure behind it, but for what is reported as done.
#[test]
fn silence_means_success_before_the_first_failure_and_failure_behind_it() {
    let changes =
        [SetPrimary(address(1)), SetPrimary(address(2)), SetPrimary(address(1)), Add(node_address(3))];
    let (mut bench, mobile, asconf) = asked(&changes);
    let (serial, _, requests) = mobile.read_asconf(&asconf);
    let ids: Vec<u32> = requests.iter().map(|&(_, id, _)| id).collect();
    let refused = encoded(&[Cause::NoAuthorization(b"")]);
    bench.deliver(&mobile.ack(serial, &[failure(&refused, ids[1]), Parameter::SuccessIndication(ids[3])]));
    let wanted =
        [Ok(()), Err(Error::RefusedByPeer(code::NO_AUTHORIZATION)), Err(Error::EarlierRefused), Ok(())];
    let got: Vec<_> = outcomes(&bench).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(got, wanted);
}

/// F10: an address that was refused is not used, and one whose deletion was refused is used again.
#[test]
fn refused_changes_are_taken_back() {
    let (mut bench, mobile, asconf) = asked(&[Add(node_address(3)), Delete(address(2))]);
    let (serial, _, requests) = mobile.read_asconf(&asconf);
    assert!(bench.paths().iter().all(|path| path.route.local != node_address(3)));
    let refused = encoded(&[Cause::ResourceShortage(b"")]);
    bench.deliver(&mobile.ack(serial, &[failure(&refused, requests[0].1)]));
    assert_eq!(
        outcomes(&bench),
        [
            (Add(node_address(3)), Err(Error::RefusedByPeer(code::RESOURCE_SHORTAGE))),
            (Delete(address(2)), Err(Error::EarlierRefused)),
        ]
    );
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(2, 1)), whimbrel_proto::PathState::Active);
    assert_eq!(path(&bench, between(3, 1)), None);
    bench.deliver_on(between(3, 1), &mobile.packet(&[&whimbrel_wire::Heartbeat { info: b"?" }]));
    assert!(bench.take().is_empty(), "what arrives there is out of the blue");
}

/// F3a, F3b: what the peer does not understand is not asked again; the rest is.
#[test]
fn what_is_not_understood_is_not_asked_again() {
    let (mut bench, mobile, asconf) = asked(&[SetPrimary(address(2))]);
    let (serial, _, requests) = mobile.read_asconf(&asconf);
    let unknown = encoded(&[Cause::UnrecognizedParameters(b"")]);
    bench.deliver(&mobile.ack(serial, &[failure(&unknown, requests[0].1)]));
    let refused = Err(Error::RefusedByPeer(code::UNRECOGNIZED_PARAMETERS));
    assert_eq!(outcomes(&bench), [(SetPrimary(address(2)), refused)]);
    change(&mut bench, &[SetPrimary(address(1)), Add(node_address(3))]);
    assert_eq!(outcomes(&bench).last(), Some(&(SetPrimary(address(1)), refused)));
    let next = bench.take_only();
    let (serial, _, requests) = mobile.read_asconf(&next);
    assert_eq!(requests.len(), 1);
    bench.deliver(&mobile.ack(serial, &[failure(&unknown, requests[0].1)]));
    change(&mut bench, &[Delete(address(1)), Add(node_address(3))]);
    let answers = outcomes(&bench);
    assert_eq!(
        answers[answers.len() - 2..],
        [(Delete(address(1)), refused), (Add(node_address(3)), refused)]
    );
    assert!(!holds(&bench.take(), chunk_type::ASCONF));
}

/// A9: the peer does not know the chunk. T4 is stopped, no further ASCONF is sent, and the user is told.
#[test]
fn a_peer_that_does_not_know_the_chunk_is_not_asked_again() {
    let (mut bench, mobile, _) = asked(&[Add(node_address(3))]);
    let quote = [chunk_type::ASCONF, 0, 0, 4];
    let error = ErrorBuilder { causes: &[Cause::UnrecognizedChunkType(&quote)] };
    bench.deliver(&mobile.packet(&[&error]));
    let reason = StaticReason::PeerLacksAsconf;
    assert_eq!(outcomes(&bench), [(Add(node_address(3)), Err(Error::Static(reason)))]);
    assert_eq!(mobility(&bench), Mobility::Static(reason));
    bench.pass(Duration::from_secs(100));
    change(&mut bench, &[Add(node_address(3))]);
    assert!(!holds(&bench.take(), chunk_type::ASCONF));
    assert_alive(&mut bench, &mobile.auth.peer);
}

/// An ERROR that nobody asked for changes nothing.
#[test]
fn a_stray_error_changes_nothing() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let quote = [chunk_type::ASCONF, 0, 0, 4];
    let error = ErrorBuilder { causes: &[Cause::UnrecognizedChunkType(&quote)] };
    bench.deliver(&mobile.packet(&[&error]));
    assert_eq!(mobility(&bench), Mobility::Dynamic);
}

/// F0, RFC 5061 §4.3.4: an answer to what was never asked ends the association; an old one is ignored.
#[test]
fn an_answer_to_what_was_never_asked_ends_the_association() {
    for (ahead, outstanding) in [(0, false), (1, false), ((1 << 31) - 1, false), (1, true), (1000, true)] {
        let (mut bench, mobile) = Mobile::connected(mesh(), 1);
        if outstanding {
            change(&mut bench, &[SetPrimary(address(1))]);
            bench.take();
        }
        bench.deliver(&mobile.ack(mobile.first_serial().wrapping_add(ahead), &[]));
        assert!(bench.closed().is_some(), "{ahead} {outstanding}");
        assert_eq!(cause_codes(&bench.take()), [code::ILLEGAL_ASCONF_ACK]);
    }
}

#[test]
fn an_old_answer_is_ignored() {
    let (mut bench, mobile, asconf) = asked(&[SetPrimary(address(1))]);
    let (serial, ..) = mobile.read_asconf(&asconf);
    for old in [serial.wrapping_sub(1), serial.wrapping_sub(1 << 30)] {
        bench.deliver(&mobile.ack(old, &[]));
    }
    assert_eq!(outcomes(&bench), []);
    mobile.grant(&mut bench, &asconf);
    mobile.grant(&mut bench, &asconf);
    assert_eq!(outcomes(&bench).len(), 1);
    assert_eq!(bench.closed(), None);
}

/// An answer that is not authenticated is none (RFC 5061 §4.1.2).
#[test]
fn an_answer_without_authentication_is_ignored() {
    let (mut bench, mobile, asconf) = asked(&[Add(node_address(3))]);
    let (serial, ..) = mobile.read_asconf(&asconf);
    let bare = whimbrel_wire::AsconfAckBuilder { sequence_number: serial, parameters: &[] };
    bench.deliver(&mobile.packet(&[&bare]));
    let never = whimbrel_wire::AsconfAckBuilder { sequence_number: serial.wrapping_add(7), parameters: &[] };
    bench.deliver(&mobile.packet(&[&never]));
    assert_eq!(outcomes(&bench), []);
    assert_eq!(bench.closed(), None);
}

/// Answers cut short anywhere, and answers to other questions, do no harm.
#[test]
fn broken_answers_do_no_harm() {
    let (bench, mobile, asconf) = asked(&[Add(node_address(3)), Delete(address(2)), SetPrimary(address(3))]);
    let (serial, _, requests) = mobile.read_asconf(&asconf);
    drop(bench);
    let refused = encoded(&[Cause::NoAuthorization(b"request!")]);
    let mut responses = Vec::new();
    for (_, id, _) in &requests {
        failure(&refused, *id).emit(&mut responses);
    }
    Parameter::SuccessIndication(77).emit(&mut responses);
    for length in 0..responses.len() {
        let (mut bench, mobile, asconf) =
            asked(&[Add(node_address(3)), Delete(address(2)), SetPrimary(address(3))]);
        let _ = asconf;
        let ack = whimbrel_wire::AsconfAck {
            sequence_number: serial,
            parameters: Parameters::from_wire(&responses[..length]),
        };
        bench.deliver(&mobile.signed(&[&ack]));
        assert_eq!(outcomes(&bench).len(), 3, "{length}");
        bench.pass(Duration::from_secs(5));
        assert_alive(&mut bench, &mobile.auth.peer);
    }
}
