//! What a peer with the key, or somebody who sees its packets, gains by requests that are odd and not forged (RFC 5062).

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{AddressChange, Config, Mobility, PathState, PrimaryChangeRule, RetransmissionPath};
use whimbrel_wire::{AsconfBuilder, Chunk, Parameter, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// A peer that makes another address primary with each request: every one is a round trip, and no state is lost on the way.
#[test]
fn primary_ping_pong() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    for n in 0..200 {
        bench.deliver(&mobile.asconf(&[set_primary(0, peer_address(1 + n % 2).ip())]));
        bench.send(0, b"x");
        let sent = bench.take();
        let data = sent.iter().find(|sent| !sent.data().is_empty()).unwrap();
        assert_eq!(data.route.remote, peer_address(1 + n % 2));
        let acked = data.data()[0].tsn;
        bench.deliver(&mobile.sack(acked, 100_000));
    }
    assert_eq!(bench.paths().len(), 2);
}

/// RFC 5061 §5.1.1 C4: the SHUTDOWN may come in the very packet of the request.
#[test]
fn a_request_in_the_packet_of_the_shutdown_is_not_answered() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let shutdown = whimbrel_wire::Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() };
    let requests = [add(0, peer_address(2).ip())];
    let asconf = AsconfBuilder {
        sequence_number: mobile.serial,
        address: peer_address(1).ip(),
        parameters: &requests,
    };
    mobile.serial += 1;
    let sent = bench.ask(&mobile.signed(&[&asconf, &shutdown]));
    assert!(holds(&sent, chunk_type::SHUTDOWN_ACK));
    assert!(!holds(&sent, chunk_type::ASCONF_ACK));
}

/// A packet full of repetitions is answered with one packet, and costs no more memory than that.
#[test]
fn thousands_of_repetitions_in_one_packet() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let refused: Vec<Parameter<'_>> = (0..30).map(|n| add(n, ip("224.0.0.1"))).collect();
    let serial = mobile.serial;
    let answer = acks(&mobile.clone(), &bench.ask(&mobile.asconf(&refused))).len();
    assert_eq!(answer, 1);
    let again = AsconfBuilder { sequence_number: serial, address: peer_address(1).ip(), parameters: &[] };
    let many: Vec<&dyn whimbrel_wire::EmitChunk> = (0..3000).map(|_| &again as _).collect();
    let sent = bench.ask(&mobile.signed(&many));
    assert_eq!(acks(&mobile, &sent).len(), 1);
    assert!(sent.iter().all(|sent| sent.bytes.len() < 1300));
}

/// An ERROR need not be authenticated, so of a peer that has answered an ASCONF it does not end mobility (RFC 5061 §5.1 A9).
#[test]
fn a_forged_error_does_not_end_mobility() {
    let unknown = |chunk: &[u8]| {
        let causes = [whimbrel_wire::Cause::UnrecognizedChunkType(chunk)];
        encoded_chunk(&whimbrel_wire::ErrorBuilder { causes: &causes })
    };
    let run = |answered: bool| {
        let (mut bench, mobile) = Mobile::connected(mesh(), 2);
        if answered {
            change(&mut bench, &[AddressChange::SetPrimary(node_address(1).ip())]);
            mobile.grant_next(&mut bench);
        }
        change(&mut bench, &[AddressChange::SetPrimary(node_address(1).ip())]);
        let sent = bench.take_only();
        let asconf = sent.packet().chunks().find_map(|chunk| match chunk {
            Ok(Chunk::Asconf(asconf)) => Some(asconf),
            _ => None,
        });
        let asconf = encoded_chunk(&asconf.unwrap());
        bench.deliver(&mobile.packet(&[&Raw(unknown(&asconf))]));
        mobility(&bench)
    };
    assert_eq!(run(true), Mobility::Dynamic);
    assert!(matches!(run(false), Mobility::Static(_)), "a peer that never answered may mean it");
}

/// A peer that asks for an address as primary and answers only at one of ours does not choose ours: a host keeps off its metered
/// link as long as the other works.
#[test]
fn choosing_our_address_by_answering_at_one_only() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 2);
    assert_eq!(primary(&bench), between(1, 1));
    bench.deliver(&mobile.asconf(&[add(0, peer_address(2).ip()), set_primary(1, peer_address(2).ip())]));
    for _ in 0..10 {
        answer_heartbeats(&mut bench, &mobile, |route| route != between(1, 2));
        bench.pass(Duration::from_millis(200));
    }
    assert_eq!(state(&bench, between(2, 2)), PathState::Active);
    assert_eq!(primary(&bench), between(1, 1));
}

/// Two networks without a way from one to the other: the peer that asks for its address in the second gets it by our address there.
#[test]
fn a_primary_in_a_network_of_its_own() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 2, &[1, 2]);
    let parallel = |route: Route| route == between(1, 1) || route == between(2, 2);
    for _ in 0..3000 {
        answer_heartbeats(&mut bench, &mobile, parallel);
        bench.pass(Duration::from_millis(200));
    }
    assert_eq!(state(&bench, between(2, 2)), PathState::Active);
    assert_eq!(primary(&bench), between(1, 1));
    bench.deliver(&mobile.asconf(&[set_primary(0, peer_address(2).ip())]));
    assert_eq!(primary(&bench), between(2, 2), "the crossing path was given up long ago");
}

fn answer_heartbeats(bench: &mut Bench, mobile: &Mobile, works: impl Fn(Route) -> bool) {
    for sent in bench.take().iter().filter(|sent| works(sent.route)) {
        mobile.answer_heartbeats(bench, sent);
    }
}

/// RFC 5062 §5: a peer that asks for one primary after the other has the same data sent once per RTO, not once per request,
/// whatever the rule for primary changes.
#[test]
fn primary_ping_pong_repeats_no_data() {
    for (rule, path) in [
        (PrimaryChangeRule::RetransmitAtOnce, RetransmissionPath::Alternate),
        (PrimaryChangeRule::LostFirst, RetransmissionPath::Primary),
    ] {
        let mut config = Config { primary_change: rule, ..mesh() };
        config.retransmission.path = path;
        let (mut bench, mut mobile) = Mobile::connected_with(config, 1, &[1, 2]);
        bench.send(0, b"x");
        let first = bench.take_only().data()[0].tsn;
        let mut repeated = 0;
        for n in 0..20 {
            bench.deliver(&mobile.asconf(&[set_primary(0, peer_address(2 - n % 2).ip())]));
            repeated += bench.take().iter().flat_map(Sent::data).filter(|data| data.tsn == first).count();
        }
        assert_eq!(repeated, 1, "{rule:?}");
        // Whoever acknowledges is there: the next request counts.
        bench.send(0, b"y");
        bench.deliver(&mobile.sack(first, 100_000));
        let before = primary(&bench);
        let other = if before == between(1, 1) { 2 } else { 1 };
        let second = bench.take().iter().flat_map(Sent::data).map(|data| data.tsn).next_back().unwrap();
        bench.deliver(&mobile.asconf(&[set_primary(0, peer_address(other).ip())]));
        let again = bench.take().iter().flat_map(Sent::data).filter(|data| data.tsn == second).count();
        assert_eq!(again, 1, "{rule:?}");
    }
}
