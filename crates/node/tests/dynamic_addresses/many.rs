//! A host with more addresses than an INIT ACK should name: the answer to an INIT whose source nobody knows must not be much longer
//! than the INIT (RFC 5062 §9 says so of every answer), so the rest follows by ASCONF.

use core::net::{IpAddr, SocketAddr};

use whimbrel_proto::{AddressChange, Config};
use whimbrel_wire::{Chunk, CookieEcho, Parameter, chunk_type, parameter_type};

use super::mobile::*;
use crate::common::wire_peer::*;

fn named(init_ack: &Sent) -> Vec<IpAddr> {
    let Chunk::InitAck(init_ack) = init_ack.only() else { panic!("{init_ack:?}") };
    let address = |parameter| match parameter {
        Ok(Parameter::Ipv4Address(address)) => Some(IpAddr::from(address)),
        Ok(Parameter::Ipv6Address(address)) => Some(IpAddr::from(address)),
        _ => None,
    };
    init_ack.parameters.filter_map(address).collect()
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
