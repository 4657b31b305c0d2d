//! What INIT and INIT ACK announce beside addresses (RFC 5061 §4.2.4, §4.2.6; RFC 9260 §3.3.2.1.5).

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::Route;
use whimbrel_proto::{Config, DarMode, Event, PeerRequests};
use whimbrel_wire::{AddressRequest, Chunk, List, Parameter, Parameters, parameter_type};

use super::mobile::{between, dynamic, mesh, news, primary};
use whimbrel_testbed::peer::*;

fn adaptation(bench: &Bench) -> Option<u32> {
    let announced = |event: &Event| match event {
        Event::Up { peer_adaptation, .. } => Some(*peer_adaptation),
        _ => None,
    };
    bench.events.iter().find_map(announced).expect("the association is up")
}

fn announcing(code: Option<u32>) -> Config {
    let mut config = dynamic();
    config.dar.adaptation_indication = code;
    config
}

fn announced_code(parameters: Parameters<'_>) -> Option<u32> {
    { parameters }.find_map(|parameter| match parameter {
        Ok(Parameter::AdaptationLayerIndication(code)) => Some(code),
        _ => None,
    })
}

/// RFC 5061 §4.2.6: told to the peer's user and passed up from it, whoever begins.
#[test]
fn the_upper_layers_code_points_are_exchanged() {
    let theirs = [Parameter::AdaptationLayerIndication(0xdead_0001)];
    let mut bench = Bench::new(announcing(Some(7)));
    let mut peer = Peer::new();
    bench.take();
    bench.deliver(&peer.init(&theirs));
    let answer = bench.take_only();
    let Chunk::InitAck(init_ack) = answer.only() else { panic!() };
    assert_eq!(announced_code(init_ack.parameters), Some(7));
    peer.learn_init_ack(&answer);
    bench.deliver(&peer.cookie_echo());
    assert_eq!(adaptation(&bench), Some(0xdead_0001));

    let mut bench = Bench::new(announcing(Some(7)));
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    let Chunk::Init(init) = init.only() else { panic!() };
    assert_eq!(announced_code(init.parameters), Some(7));
    let mut bench = Bench::new(announcing(None));
    Peer::new().accept(&mut bench, &theirs);
    assert_eq!(adaptation(&bench), Some(0xdead_0001));
    let mut bench = Bench::new(announcing(None));
    Peer::new().accept(&mut bench, &[]);
    assert_eq!(adaptation(&bench), None);
}

/// Answers the heartbeats on one route.
fn confirm(bench: &mut Bench, peer: &Peer, route: Route) {
    for sent in bench.take().iter().filter(|sent| sent.route == route) {
        peer.answer_heartbeats(bench, sent);
    }
}

/// The peer lists its addresses 1 and 2, and wants `wanted`.
fn wanting(wanted: IpAddr) -> [Parameter<'static>; 3] {
    let request = AddressRequest { correlation_id: 0, address: wanted };
    [peer_address(1).ip().into(), peer_address(2).ip().into(), Parameter::SetPrimaryAddress(request)]
}

fn called(config: Config, wanted: IpAddr) -> (Bench, Peer) {
    let mut bench = Bench::new(config);
    let mut peer = Peer::new();
    peer.begin(&mut bench, &wanting(wanted));
    bench.deliver(&peer.cookie_echo());
    (bench, peer)
}

/// RFC 5061 §4.2.4, §5.4: the wish of an INIT is followed as soon as the address has answered, not before (RFC 5062 §4).
#[test]
fn the_primary_address_of_an_init_is_used_once_confirmed() {
    let (mut bench, peer) = called(mesh(), peer_address(2).ip());
    assert_eq!(primary(&bench), between(1, 1));
    bench.pass(core::time::Duration::from_millis(300));
    confirm(&mut bench, &peer, between(1, 2));
    assert_eq!(primary(&bench), between(1, 2));
    assert_eq!(news(&bench).len(), 1, "the user is told: {:?}", news(&bench));
}

/// RFC 5061 §4.2.4: likewise that of an INIT ACK.
#[test]
fn the_primary_address_of_an_init_ack_is_used_once_confirmed() {
    let mut bench = Bench::new(mesh());
    let mut peer = Peer::new();
    peer.accept(&mut bench, &wanting(peer_address(2).ip()));
    assert_eq!(primary(&bench), between(1, 1));
    confirm(&mut bench, &peer, between(1, 2));
    assert_eq!(primary(&bench), between(1, 2));
}

/// An address that is not listed, a user who lets the peer ask for nothing, and dynamic addresses switched off.
#[test]
fn other_wishes_for_a_primary_address_are_not_heard() {
    let mut refusing = mesh();
    refusing.dar.peer_requests = PeerRequests::Refuse;
    let mut off = mesh();
    off.dar.mode = DarMode::Off;
    for (config, wanted) in
        [(mesh(), peer_address(3).ip()), (refusing, peer_address(2).ip()), (off, peer_address(2).ip())]
    {
        let (mut bench, peer) = called(config, wanted);
        bench.pass(core::time::Duration::from_millis(300));
        confirm(&mut bench, &peer, between(1, 2));
        assert_eq!(primary(&bench), between(1, 1));
        assert_eq!(news(&bench), []);
    }
}

/// RFC 9260 §3.3.2.1.5: a peer that supports IPv4 alone is offered nothing else.
#[test]
fn addresses_of_a_family_that_the_peer_does_not_support_are_not_offered() {
    let v6: SocketAddr = "[2001:db8::1]:9899".parse().unwrap();
    let offered = |parameters: &[Parameter<'_>]| {
        let mut bench = Bench::with_locals(dynamic(), vec![node_address(1), node_address(2), v6]);
        bench.take();
        bench.deliver(&Peer::new().init(parameters));
        let answer = bench.take_only();
        let Chunk::InitAck(init_ack) = answer.only() else { panic!() };
        let address = |parameter| match parameter {
            Ok(Parameter::Ipv4Address(address)) => Some(IpAddr::from(address)),
            Ok(Parameter::Ipv6Address(address)) => Some(IpAddr::from(address)),
            _ => None,
        };
        { init_ack.parameters }.filter_map(address).collect::<Vec<_>>()
    };
    let both = [node_address(1).ip(), node_address(2).ip()];
    assert_eq!(offered(&[]), [both[0], both[1], v6.ip()]);
    let v4_only = [parameter_type::IPV4_ADDRESS];
    assert_eq!(offered(&[Parameter::SupportedAddressTypes(List::from(&v4_only))]), both);
}

/// RFC 9260 §3.3.2.1.5: what was withheld from the peer, it does not know: nothing may leave from there (RFC 5061 §5.3 F1).
#[test]
fn an_address_that_was_withheld_is_not_known() {
    let v6: SocketAddr = "[2001:db8::1]:9899".parse().unwrap();
    let both = [parameter_type::IPV4_ADDRESS, parameter_type::IPV6_ADDRESS];
    for (types, known) in [(&both[..1], false), (&both, true)] {
        let mut bench = Bench::with_locals(dynamic(), vec![node_address(1), v6]);
        let mut peer = Peer::new();
        let listed: IpAddr = "2001:db8::2".parse().unwrap();
        peer.begin(&mut bench, &[Parameter::SupportedAddressTypes(List::from(types)), listed.into()]);
        bench.deliver(&peer.cookie_echo());
        bench.pass(core::time::Duration::from_secs(5));
        assert_eq!(bench.take().iter().any(|sent| sent.route.local == v6), known);
    }
}
