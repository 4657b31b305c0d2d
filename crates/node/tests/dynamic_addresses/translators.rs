//! Networks that have IPv6 alone and translate (NAT64, RFC 6146), and networks that take a host in and lead nowhere.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::AddressChange::{Add, Delete, SetPrimary};
use whimbrel_proto::{AddressNaming, PathState};
use whimbrel_wire::{CookieEcho, Parameter, parameter_type as kind};

use super::mobile::*;
use crate::common::wire_peer::*;

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// The node with a private address, and a peer that has connected to it from a public one.
fn with_public_peer() -> (Bench, Mobile, Route) {
    let mut bench = Bench::with_locals(mesh(), vec![node_address(1)]);
    let mut mobile = Mobile::new();
    let public = Route { remote: socket("198.51.100.9:41234"), ..between(1, 1) };
    let mut parameters = mobile.parameters();
    parameters.push(Parameter::SupportedExtensions(&EXTENSIONS));
    let init = mobile.init(&parameters);
    bench.deliver_on(public, &init);
    let answer = bench.take_only();
    mobile.auth.peer.learn_init_ack(&answer);
    let whimbrel_wire::Chunk::InitAck(init_ack) = answer.only() else { panic!() };
    mobile.auth.learn(init_ack.parameters);
    bench.deliver_on(public, &mobile.packet(&[&CookieEcho { cookie: &mobile.cookie }]));
    mobile.settle(&mut bench);
    (bench, mobile, public)
}

/// RFC 6052 §2: the peer has IPv4 alone, and the network that is left IPv6 alone. The request goes where a translator would take it, and
/// names nothing, as the peer sees another address than ours (RFC 5061 §4.2.1).
#[test]
fn the_peer_is_called_by_what_a_translator_calls_it() {
    let (mut bench, mobile, public) = with_public_peer();
    let ours = socket("[2001:db8::7]:9899");
    down(&mut bench, public.local);
    up(&mut bench, ours);
    let old = public.local.ip();
    change(&mut bench, &[Add(ours), Delete(old), SetPrimary(ours.ip())]);
    let sent = bench.take_only();
    let beyond = Route { local: ours, remote: socket("[64:ff9b::198.51.100.9]:41234") };
    assert_eq!(sent.route, beyond);
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert_eq!(address, Ipv4Addr::UNSPECIFIED, "the peer sees IPv4");
    assert!(requests.iter().all(|(.., address)| *address == Ipv4Addr::UNSPECIFIED), "{requests:?}");
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, beyond), PathState::Active);
    bench.send(0, b"on");
    assert_eq!(bench.take_only().route, beyond);
}

/// While there is IPv4, or the peer has IPv6, no address is made up; nor one for a peer with a private address (RFC 6052 §3.1).
#[test]
fn no_address_is_made_up_without_need() {
    let (mut bench, ..) = with_public_peer();
    let ours = socket("[2001:db8::7]:9899");
    up(&mut bench, ours);
    change(&mut bench, &[Add(ours)]);
    assert!(bench.take().is_empty(), "IPv4 is there");
    let (mut bench, _) = Mobile::connected(mesh(), 1);
    down(&mut bench, node_address(1));
    up(&mut bench, ours);
    change(&mut bench, &[Add(ours)]);
    assert!(bench.take().is_empty(), "a private address has no name elsewhere");
}

/// What is to be added behind a NAT can leave from there alone, and nothing else can be asked meanwhile (RFC 5061 §5.1 A3). A network that
/// answers nothing must not hold up the next one.
#[test]
fn a_network_that_leads_nowhere_does_not_hold_up_the_next() {
    let mut config = mesh();
    config.dar.naming = AddressNaming::Wildcards;
    let (mut bench, mobile) = Mobile::connected(config, 1);
    down(&mut bench, node_address(1));
    up(&mut bench, node_address(2));
    change(&mut bench, &[Add(node_address(2))]);
    assert_eq!(bench.take_only().route, between(2, 1));
    for _ in 0..4 {
        bench.pass(Duration::from_secs(5));
        let sent = bench.take();
        assert!(sent.iter().all(|sent| sent.route.local == node_address(2)), "{sent:?}");
    }
    up(&mut bench, node_address(3));
    change(&mut bench, &[Add(node_address(3))]);
    let sent = bench.take_only();
    assert_eq!(sent.route, between(3, 1));
    mobile.grant(&mut bench, &sent);
    let next = bench.take_only();
    let (_, _, requests) = mobile.read_asconf(&next);
    assert_eq!((next.route, requests[0].0), (between(3, 1), kind::ADD_IP_ADDRESS), "now it is meant");
}
