//! A host with more addresses than an INIT ACK should name: the answer to an INIT whose source nobody knows must not be much longer
//! than the INIT (RFC 5062 §9 says so of every answer), so the rest follows by ASCONF.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_proto::{AddressChange, Config, Event};
use whimbrel_wire::{
    AbortBuilder, Cause, Chunk, CookieEcho, Parameter, Parameters, chunk_type, parameter_type,
};

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn named(init_ack: &Sent) -> Vec<IpAddr> {
    let Chunk::InitAck(init_ack) = init_ack.only() else { panic!("{init_ack:?}") };
    listed(init_ack.parameters)
}

fn named_in_init(init: &Sent) -> Vec<IpAddr> {
    let Chunk::Init(init) = init.only() else { panic!("{init:?}") };
    listed(init.parameters)
}

fn listed(parameters: Parameters<'_>) -> Vec<IpAddr> {
    let address = |parameter| match parameter {
        Ok(Parameter::Ipv4Address(address)) => Some(IpAddr::from(address)),
        Ok(Parameter::Ipv6Address(address)) => Some(IpAddr::from(address)),
        _ => None,
    };
    { parameters }.filter_map(address).collect()
}

fn node_ips(numbers: impl IntoIterator<Item = u8>) -> Vec<IpAddr> {
    numbers.into_iter().map(|number| node_address(number).ip()).collect()
}

/// What the answer to an INIT with these parameters names.
fn named_to(peer: &Peer, bench: &mut Bench, parameters: &[Parameter<'_>]) -> Vec<IpAddr> {
    bench.take();
    named(&bench.ask(&peer.init(parameters))[0])
}

#[test]
fn what_an_init_ack_omits_follows_by_asconf() {
    let mut bench = Bench::with_addresses(dynamic(), 10);
    let mut mobile = Mobile::new();
    mobile.begin(&mut bench, &[]);
    bench.deliver(&mobile.packet(&[&CookieEcho { cookie: &mobile.cookie }]));
    let sent = mobile.settle(&mut bench);
    let asconf = sent.iter().find(|sent| holds(core::slice::from_ref(*sent), chunk_type::ASCONF));
    let asconf = asconf.expect("an ASCONF");
    let (_, _, requests) = mobile.read_asconf(asconf);
    assert!(requests.iter().all(|(kind, ..)| *kind == parameter_type::ADD_IP_ADDRESS));
    assert_eq!(requests.iter().map(|request| request.2).collect::<Vec<_>>(), node_ips(5..=10));
    mobile.grant(&mut bench, asconf);
    let added = outcomes(&bench);
    assert_eq!(added.len(), 6);
    assert!(added.iter().all(|(change, outcome)| matches!(change, AddressChange::Add(_)) && outcome.is_ok()));
}

/// A peer without ASCONF gets four, and is sent no chunk that it does not know.
#[test]
fn a_peer_that_cannot_be_told_more_is_told_four() {
    let mut bench = Bench::with_addresses(dynamic(), 10);
    let mut peer = Peer::new();
    assert_eq!(named_to(&peer, &mut bench, &[]), node_ips(1..=4));
    peer.connect(&mut bench);
    assert!(!holds(&bench.take(), chunk_type::ASCONF));
    assert_alive(&mut bench, &peer);
    assert_eq!(bench.closed(), None);
}

/// The answer may be longer if the question is.
#[test]
fn who_lists_many_addresses_is_told_as_many() {
    let mut bench = Bench::with_addresses(dynamic(), 10);
    let listed: Vec<_> = (1..=6).map(|number| Parameter::from(peer_address(number).ip())).collect();
    assert_eq!(named_to(&Peer::new(), &mut bench, &listed), node_ips(1..=6));
}

/// The peer has had an INIT ACK of ours and waits for the answer to its COOKIE ECHO. To it an INIT that lists more addresses than that
/// comes from somebody else (RFC 9260 §5.2.1): the next one lists as many.
#[test]
fn an_init_that_lists_too_much_is_followed_by_one_that_lists_less() {
    let mut bench = Bench::with_addresses(dynamic(), 10);
    let mut mobile = Mobile::new();
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    assert_eq!(named_in_init(&init), node_ips(1..=10));
    mobile.auth.peer.learn_init(&init);
    let refusal = AbortBuilder { tag_reflected: false, causes: &[Cause::RestartWithNewAddresses(&[])] };
    bench.deliver(&mobile.packet(&[&refusal]));
    let init = bench.take_only();
    assert_eq!(named_in_init(&init), node_ips(1..=4));
    mobile.accept_init(&mut bench, &init);
    let sent = mobile.settle(&mut bench);
    let asconf = sent.iter().find(|sent| holds(core::slice::from_ref(*sent), chunk_type::ASCONF));
    let (_, _, requests) = mobile.read_asconf(asconf.expect("an ASCONF"));
    assert_eq!(requests.iter().map(|request| request.2).collect::<Vec<_>>(), node_ips(5..=10));
}

/// It is tried once: whoever refuses that, too, has said no.
#[test]
fn a_second_refusal_is_final() {
    let mut bench = Bench::with_addresses(dynamic(), 10);
    let mut peer = Peer::new();
    bench.connect(&[peer_address(1)]);
    for _ in 0..2 {
        peer.learn_init(&bench.take_only());
        let refusal = AbortBuilder { tag_reflected: false, causes: &[Cause::RestartWithNewAddresses(&[])] };
        bench.deliver(&peer.packet(&[&refusal]));
    }
    assert!(matches!(bench.events.last(), Some(Event::ConnectFailed { .. })), "{:?}", bench.events);
}

/// The network brings the first refusal once more: it names what the INIT leaves out by now, and the handshake goes on. Nor does it end the
/// association later, whose tag is the same.
#[test]
fn a_refusal_that_is_late_is_no_refusal() {
    let mut bench = Bench::with_addresses(dynamic(), 10);
    let mut mobile = Mobile::new();
    bench.connect(&[peer_address(1)]);
    mobile.auth.peer.learn_init(&bench.take_only());
    let mut named = Vec::new();
    node_ips(5..=10).into_iter().for_each(|ip| Parameter::from(ip).emit(&mut named));
    let causes = [Cause::RestartWithNewAddresses(&named)];
    let refusal = AbortBuilder { tag_reflected: false, causes: &causes };
    let refusal = mobile.packet(&[&refusal]);
    bench.deliver(&refusal);
    let init = bench.take_only();
    bench.deliver(&refusal);
    assert!(bench.take().is_empty());
    mobile.accept_init(&mut bench, &init);
    mobile.settle(&mut bench);
    assert_eq!(bench.ups(), 1, "{:?}", bench.events);
    bench.deliver(&refusal);
    assert_eq!(bench.closed(), None);
    bench.send(0, b"still here");
    assert!(holds(&bench.take(), chunk_type::DATA));
}

/// With IPv4 and UDP headers on both, and an INIT as short as can be.
#[test]
fn an_init_ack_is_not_much_longer_than_the_shortest_init() {
    let locals: Vec<SocketAddr> = (1..=25)
        .map(|number| SocketAddr::from((IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, number]), 9899)))
        .chain([node_address(1)])
        .collect();
    for config in [dynamic(), Config::rfc(), Config::mobile()] {
        let mut bench = Bench::with_locals(config, locals.clone());
        let init = Peer::new().init(&[]);
        let sent = bench.ask(&init);
        let ratio = (sent[0].bytes.len() + 28) as f64 / (init.len() + 28) as f64;
        assert!(ratio < 4.5, "{ratio}");
    }
}

/// RFC 9260 §5.2.4 D: a repeated COOKIE ECHO brings a COOKIE ACK, nothing else.
#[test]
fn a_repeated_cookie_echo_adds_nothing_that_was_deleted() {
    let mut bench = Bench::with_addresses(mesh(), 6);
    let mut mobile = Mobile::new();
    mobile.begin(&mut bench, &[]);
    let echo = mobile.packet(&[&CookieEcho { cookie: &mobile.cookie }]);
    let asconf =
        |sent: Vec<Sent>| sent.into_iter().find(|s| holds(core::slice::from_ref(s), chunk_type::ASCONF));
    bench.deliver(&echo);
    let omitted = asconf(mobile.settle(&mut bench)).unwrap();
    mobile.grant(&mut bench, &omitted);
    mobile.settle(&mut bench);
    change(&mut bench, &[AddressChange::Delete(node_address(6).ip())]);
    let deletion = asconf(mobile.settle(&mut bench)).unwrap();
    mobile.grant(&mut bench, &deletion);
    bench.pass(Duration::from_secs(600));
    mobile.settle(&mut bench);
    bench.deliver(&echo);
    let again = asconf(mobile.settle(&mut bench));
    assert!(again.is_none(), "{:?}", again.map(|again| mobile.read_asconf(&again)));
}
