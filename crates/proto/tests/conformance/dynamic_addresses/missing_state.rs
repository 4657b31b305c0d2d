//! A translator gives a host another outer address: to its peer it is a stranger with the right tag, which is told so (draft-ietf-tsvwg-natsupp,
//! "Missing State"), and adds the address that it is seen with (RFC 6951 §5.7).

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{AddressChange, AddressNaming, Config, TailLoss};
use whimbrel_wire::{
    AbortBuilder, Cause, Causes, EmitChunk, ErrorBuilder, ErrorCauseIndication, Heartbeat, Parameter,
    chunk_type, draft, parameter_type as kind,
};

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn probing() -> Config {
    let mut config = mesh();
    config.retransmission.tail = TailLoss::Probe;
    config.dar.naming = AddressNaming::Wildcards;
    config
}

/// An address that the peer has not listed.
fn elsewhere() -> Route {
    between(1, 9)
}

/// Those that leave for [`elsewhere`] after a packet from there.
fn answers(bench: &mut Bench, bytes: &[u8]) -> Vec<Sent> {
    bench.deliver_on(elsewhere(), bytes);
    let sent = bench.take();
    assert!(sent.iter().all(|sent| sent.route == elsewhere()), "{sent:?}");
    sent
}

/// It gets back the tag that it has shown, and fewer bytes than it has sent.
#[test]
fn a_stranger_with_our_tag_is_told() {
    let (mut bench, mobile) = Mobile::connected(probing(), 1);
    let packet = mobile.packet(&[&Heartbeat { info: b"guess who" }]);
    let told = answers(&mut bench, &packet);
    assert_eq!(cause_codes(&told), [draft::CAUSE_MISSING_STATE]);
    assert_eq!((told.len(), told[0].tag()), (1, mobile.node_tag));
    assert!(told[0].bytes.len() <= packet.len());
    assert_eq!(answers(&mut bench, &packet).len(), 0, "a moment ago");
    bench.pass(Duration::from_millis(60));
    assert_eq!(answers(&mut bench, &packet).len(), 1);
    bench.pass(Duration::from_millis(60));
    let abort = mobile.packet(&[&AbortBuilder { tag_reflected: false, causes: &[] }]);
    assert_eq!(answers(&mut bench, &abort).len(), 0, "RFC 9260 §8.4 rule 2");
    assert_eq!(bench.closed(), None);
}

/// Whoever cannot add an address is not asked to, nor is anybody where the RFC's timers are all there is.
#[test]
fn nobody_is_told_who_cannot_move() {
    let packet = |mobile: &Mobile| mobile.packet(&[&Heartbeat { info: b"guess who" }]);
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    assert_eq!(answers(&mut bench, &packet(&mobile)).len(), 0);
    let (mut bench, peer) = Peer::connected(probing());
    assert_eq!(answers(&mut bench, &peer.packet(&[&Heartbeat { info: b"guess who" }])).len(), 0);
}

/// The peer says that it does not know us, with this tag.
fn unknown(mobile: &Mobile, tag: u32, code: u16) -> Vec<u8> {
    let error = ErrorBuilder { causes: &[Cause::Unknown { code, bytes: &[] }] };
    packet(mobile.header(tag), &[&error as &dyn EmitChunk])
}

#[test]
fn who_is_told_adds_the_address_once_more() {
    let (mut bench, mobile) = Mobile::connected(probing(), 1);
    bench.deliver(&unknown(&mobile, mobile.tag ^ 1, draft::CAUSE_MISSING_STATE));
    bench.deliver(&unknown(&mobile, mobile.tag, draft::CAUSE_MISSING_SUPPORT));
    assert_eq!(bench.take().len(), 0, "another tag, another cause");
    let missing = unknown(&mobile, mobile.tag, draft::CAUSE_MISSING_STATE);
    bench.deliver(&missing);
    bench.deliver(&missing);
    let sent = bench.take_only();
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert!(address.is_unspecified() && requests.iter().all(|(.., address)| address.is_unspecified()));
    let kinds: Vec<u16> = requests.iter().map(|&(kind, ..)| kind).collect();
    assert_eq!(kinds, [kind::ADD_IP_ADDRESS, kind::SET_PRIMARY_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    // Anybody who has seen the tag can say so as often as he likes.
    for _ in 0..9 {
        bench.deliver(&missing);
        assert!(!holds(&bench.take(), chunk_type::ASCONF));
        bench.pass(Duration::from_millis(100));
    }
    bench.pass(Duration::from_millis(200));
    bench.deliver(&missing);
    assert!(holds(&bench.take(), chunk_type::ASCONF));
}

fn is_asconf(sent: &Sent) -> bool {
    holds(core::slice::from_ref(sent), chunk_type::ASCONF)
}

/// The peer answers our second address, but says twice that it does not know it. Returns the ASCONF that follows.
fn hide_the_second(bench: &mut Bench, mobile: &Mobile) -> Sent {
    let missing = unknown(mobile, mobile.tag, draft::CAUSE_MISSING_STATE);
    bench.pass(Duration::from_millis(100));
    bench.deliver_on(between(2, 1), &missing);
    bench.pass(Duration::from_millis(100));
    bench.take();
    bench.deliver_on(between(2, 1), &missing);
    bench.take().into_iter().find(is_asconf).unwrap()
}

/// An address that looks as if everybody could reach it is translated all the same, as the peer does not know it: from then on nothing names an
/// address, as the others may be translated as well.
#[test]
fn what_looks_public_may_be_translated() {
    let mut config = probing();
    config.dar.naming = AddressNaming::ByScope;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    gain(&mut bench, node_address(2));
    let named = bench.take_only();
    assert!(mobile.read_asconf(&named).1 == node_address(1).ip(), "nothing tells yet");
    mobile.grant(&mut bench, &named);
    mobile.settle(&mut bench);
    let missing = unknown(&mobile, mobile.tag, draft::CAUSE_MISSING_STATE);
    // A packet was late once, and the peer answers from there: it knows the address.
    for _ in 0..5 {
        bench.deliver_on(between(2, 1), &missing);
        let sent = mobile.settle(&mut bench);
        assert!(sent.iter().any(|sent| !sent.heartbeats().is_empty()), "it asks");
        assert_eq!(sent.iter().find(|sent| is_asconf(sent)).map(|sent| sent.route), None);
        bench.pass(Duration::from_millis(200));
        mobile.settle(&mut bench);
    }
    let sent = hide_the_second(&mut bench, &mobile);
    assert_eq!(sent.route, between(2, 1));
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert!(address.is_unspecified() && requests.iter().all(|(.., address)| address.is_unspecified()));
}

/// That the peer knows an address by another name was inferred. If the wildcard would delete others with it, the address is named: the peer
/// would keep it for good otherwise.
#[test]
fn what_no_wildcard_can_delete_is_named() {
    let mut config = probing();
    config.dar.naming = AddressNaming::ByScope;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    for address in [2, 3] {
        gain(&mut bench, node_address(address));
        let sent = bench.take().into_iter().find(is_asconf).unwrap();
        mobile.grant(&mut bench, &sent);
        mobile.settle(&mut bench);
    }
    let sent = hide_the_second(&mut bench, &mobile);
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    let second = node_address(2).ip();
    change(&mut bench, &[AddressChange::Delete(second)]);
    let sent = bench.take().into_iter().find(is_asconf).unwrap();
    let (serial, _, requests) = mobile.read_asconf(&sent);
    let named: Vec<_> = requests.iter().map(|&(kind, _, address)| (kind, address)).collect();
    assert_eq!(named, [(kind::DELETE_IP_ADDRESS, second)]);
    // The peer knows no such address, so it is translated, and named no more.
    let causes = Causes::from_wire(&[]);
    let refusal = ErrorCauseIndication { correlation_id: requests[0].1, causes };
    bench.deliver_on(sent.route, &mobile.ack(serial, &[Parameter::ErrorCauseIndication(refusal)]));
    mobile.settle(&mut bench);
    change(&mut bench, &[AddressChange::SetPrimary(second)]);
    let sent = bench.take().into_iter().find(is_asconf).unwrap();
    let (.., requests) = mobile.read_asconf(&sent);
    assert!(sent.route.local.ip() == second && requests[0].2.is_unspecified(), "{requests:?}");
}

/// The user knows that there is no translator.
#[test]
fn who_is_not_translated_adds_nothing() {
    let mut config = probing();
    config.dar.naming = AddressNaming::Literal;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    bench.deliver(&unknown(&mobile, mobile.tag, draft::CAUSE_MISSING_STATE));
    assert_eq!(bench.take().len(), 0);
}
