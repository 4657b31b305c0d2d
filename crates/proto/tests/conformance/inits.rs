//! INIT that nobody honest sends (RFC 9260 §3.3.2, §5.1, §8.5.1; RFC 5062 §5, §6, §9).

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::Config;
use whimbrel_wire::{Cause, Chunk, InitBuilder, Parameter, UnknownParameter, cause_code, chunk_type};

use whimbrel_testbed::peer::{
    self, Bench, NODE_PORT, Peer, Raw, UDP, assert_alive, assert_init_aborted, ip, packet, peer_address,
};

/// RFC 9260 §8.5.1 A: a packet with a zero tag contains only an INIT, or is silently discarded.
#[test]
fn an_init_bundled_with_another_chunk_is_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    let init = peer.init_builder(&[]);
    let data = peer.clone().data(0, 0, b"x");
    assert!(bench.ask(&packet(peer.header(0), &[&init, &data])).is_empty());
    assert!(bench.ask(&packet(peer.header(0), &[&init, &init])).is_empty());
    assert!(bench.ask(&packet(peer.header(0), &[&data, &init])).is_empty());
    assert!(bench.ask(&packet(peer.header(0), &[&data])).is_empty());
    peer.begin(&mut bench, &[]);
}

/// RFC 9260 §8.5.1 A: an INIT with a tag is no INIT.
#[test]
fn an_init_with_a_verification_tag_is_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    assert!(bench.ask(&packet(peer.header(7), &[&peer.init_builder(&[])])).is_empty());
    // Also with the right tag of a living association.
    peer.connect(&mut bench);
    assert!(bench.ask(&peer.packet(&[&peer.init_builder(&[])])).is_empty());
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §3.3.2: an INIT with a zero Initiate Tag is silently discarded.
#[test]
fn a_zero_initiate_tag_is_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer { tag: 0, ..Peer::new() };
    assert!(bench.ask(&peer.init(&[])).is_empty());
}

/// RFC 9260 §3.3.2: no streams in either direction is answered with ABORT.
#[test]
fn zero_streams_are_aborted() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer::new();
    let init = peer.init_builder(&[]);
    for init in [InitBuilder { outbound_streams: 0, ..init }, InitBuilder { inbound_streams: 0, ..init }] {
        let sent = bench.ask(&packet(peer.header(0), &[&init]));
        assert_init_aborted(&sent, &peer, &[cause_code::INVALID_MANDATORY_PARAMETER]);
    }
}

/// RFC 9260 §3.3.2: a window of less than 1500 bytes is answered with ABORT, and changes nothing for an association that
/// exists.
#[test]
fn a_window_too_small_for_a_packet_is_aborted() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    let tiny = |a_rwnd| Peer { a_rwnd, ..Peer::new() };
    for a_rwnd in [0, 1, 1499] {
        let sent = bench.ask(&tiny(a_rwnd).init(&[]));
        assert_init_aborted(&sent, &peer, &[cause_code::INVALID_MANDATORY_PARAMETER]);
    }
    tiny(1500).begin(&mut bench, &[]);
    peer.connect(&mut bench);
    let again = Peer { tag: 0x7777, ..tiny(1499) };
    assert_init_aborted(&bench.ask(&again.init(&[])), &again, &[cause_code::INVALID_MANDATORY_PARAMETER]);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §5.1.2 B: a Host Name Address is answered with ABORT, "Unresolvable Address", and nobody is looked up.
#[test]
fn a_host_name_is_aborted() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer::new();
    let sent = bench.ask(&peer.init(&[Parameter::HostName(b"victim.example\0")]));
    assert_init_aborted(&sent, &peer, &[cause_code::UNRESOLVABLE_ADDRESS]);
}

/// RFC 9260 §5.1: nobody listens.
#[test]
fn an_init_for_a_port_where_nobody_listens_is_aborted() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer::new();
    let mut header = peer.header(0);
    header.destination_port = NODE_PORT + 1;
    let sent = bench.ask(&packet(header, &[&peer.init_builder(&[])]));
    assert_init_aborted(&sent, &peer, &[]);
}

fn unknown(parameter_type: u16, raw: &[u8]) -> Parameter<'_> {
    Parameter::Unknown(UnknownParameter { parameter_type, raw })
}

/// RFC 9260 §3.2.1: the two high bits of an unknown parameter say whether to go on and whether to report it; the
/// INIT ACK reports.
#[test]
fn unknown_parameters_are_treated_as_their_high_bits_say() {
    for (high, goes_on, reports) in
        [(0x0000_u16, false, false), (0x4000, false, true), (0x8000, true, false), (0xc000, true, true)]
    {
        let mut bench = Bench::new(Config::rfc());
        let peer = Peer::new();
        let code = high | 0x3123;
        let mut raw = code.to_be_bytes().to_vec();
        raw.extend_from_slice(&[0, 7, 1, 2, 3]);
        let after = Parameter::from(ip("10.9.9.9"));
        let mut peer_copy = peer.clone();
        let sent = bench.ask(&peer.init(&[unknown(code, &raw), after]));
        peer_copy.learn_init_ack(&sent[0]);
        let Chunk::InitAck(init_ack) = sent[0].only() else { panic!() };
        let reported = { init_ack.parameters }.find_map(|parameter| match parameter {
            Ok(Parameter::UnrecognizedParameter(bytes)) => Some(bytes.to_vec()),
            _ => None,
        });
        assert_eq!(reported, reports.then(|| raw.clone()), "{high:#x}");
        // Whether the address behind it was read shows in the paths.
        bench.deliver(&peer_copy.cookie_echo());
        assert_eq!(bench.paths().len(), if goes_on { 2 } else { 1 }, "{high:#x}");
    }
}

/// RFC 9260 §3.2.2: what the INIT ACK had that is unknown is reported in an ERROR behind COOKIE ECHO.
#[test]
fn unknown_parameters_of_an_init_ack_are_reported_behind_cookie_echo() {
    let (mut bench, peer) = Peer::called(Config::rfc());
    let raw = [0xff, 0x17, 0, 6, 9, 9];
    let sent = bench.ask(&peer.init_ack(&[unknown(0xff17, &raw), Parameter::StateCookie(b"cookie")]));
    let chunks = sent[0].chunks();
    assert!(matches!(chunks[0], Chunk::CookieEcho(_)));
    let Chunk::Error(error) = chunks[1] else { panic!("{chunks:?}") };
    let Some(Ok(Cause::UnrecognizedParameters(bytes))) = { error.causes }.next() else { panic!() };
    assert_eq!(&bytes[..6], &raw);
}

/// RFC 5062 §9: an answer must not grow with the question; thousands of unknown parameters are not all quoted.
#[test]
fn a_heap_of_unknown_parameters_gives_a_small_init_ack() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer::new();
    let raw = [0xff, 0x17, 0, 4];
    let parameters = vec![unknown(0xff17, &raw); 8000];
    let sent = bench.ask(&peer.init(&parameters));
    assert!(sent[0].bytes.len() < 1200, "{}", sent[0].bytes.len());
}

/// A parameter whose length leads nowhere ends in an ABORT, not in a guess.
#[test]
fn a_parameter_with_an_impossible_length_is_aborted() {
    let peer = Peer::new();
    for length in [0_u16, 1, 3, 200] {
        let mut bench = Bench::new(Config::rfc());
        let mut value = packet(peer.header(0), &[&peer.init_builder(&[])])[16..].to_vec();
        value.extend_from_slice(&0x0005_u16.to_be_bytes());
        value.extend_from_slice(&length.to_be_bytes());
        value.extend_from_slice(&[10, 0, 0, 1]);
        let sent = bench.ask(&packet(peer.header(0), &[&Raw::chunk(chunk_type::INIT, 0, &value)]));
        assert_init_aborted(&sent, &peer, &[cause_code::PROTOCOL_VIOLATION]);
    }
}

/// An INIT chunk too short for its fixed fields is discarded.
#[test]
fn a_truncated_init_is_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer::new();
    for length in 0..16 {
        assert!(
            bench
                .ask(&packet(peer.header(0), &[&Raw::chunk(chunk_type::INIT, 0, &vec![1; length])]))
                .is_empty()
        );
    }
}

fn addresses_of(init_ack_or_paths: &Bench) -> Vec<IpAddr> {
    init_ack_or_paths.paths().iter().map(|path| path.route.remote.ip()).collect()
}

/// RFC 9260 §3.3.2.1, §8.4 rule 1, RFC 5062 §5: groups, everybody, nobody and this host are not addresses of a peer;
/// an address listed twice counts once.
#[test]
fn absurd_addresses_in_an_init_are_ignored() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    let listed = [
        "224.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "127.0.0.1",
        "169.254.1.1",
        "::",
        "::1",
        "ff02::1",
        "fe80::1",
        "10.0.1.2",
        "10.0.7.7",
        "10.0.7.7",
        "192.168.3.3",
    ];
    peer.connect_with(&mut bench, &listed.map(ip));
    assert_eq!(addresses_of(&bench), ["10.0.1.2", "10.0.7.7", "192.168.3.3"].map(ip));
    let heard: Vec<IpAddr> = bench.take().iter().map(|sent| sent.route.remote.ip()).collect();
    assert!(heard.iter().all(|heard| addresses_of(&bench).contains(heard)), "{heard:?}");
}

/// RFC 9260 §3.3.2.1.2: an IPv4-mapped IPv6 address must not be sent. Where a host has IPv6 a system would take it for the IPv4
/// address, and some of those are nobody's.
#[test]
fn mapped_addresses_do_not_smuggle_in_others() {
    let route = Route {
        local: SocketAddr::new(ip("2001:db8::1"), UDP),
        remote: SocketAddr::new(ip("2001:db8::2"), UDP),
    };
    let mut bench = Bench::with_locals(Config::rfc(), vec![route.local]);
    let mut peer = Peer::new();
    let listed = ["2001:db8::3", "::ffff:127.0.0.1", "::ffff:224.0.0.1", "::ffff:198.51.100.7"];
    bench.deliver_on(route, &peer.init(&listed.map(|text| Parameter::from(ip(text)))));
    peer.learn_init_ack(&bench.take_only());
    bench.deliver_on(route, &peer.cookie_echo());
    assert_eq!(addresses_of(&bench), [ip("2001:db8::2"), ip("2001:db8::3")]);
}

/// RFC 5062 §6: two hundred addresses make neither two hundred paths nor a burst.
#[test]
fn two_hundred_addresses_are_cut_to_the_limit() {
    let config = Config::rfc();
    let limit = config.limits.peer_addresses;
    let mut bench = Bench::new(config);
    let mut peer = Peer::new();
    let many: Vec<IpAddr> = (0..200).map(|n| IpAddr::from([10, 77, 0, n])).collect();
    peer.connect_with(&mut bench, &many);
    assert!(bench.paths().len() <= limit + 1, "{}", bench.paths().len());
    // HB.Max.Burst is 1. The first probe waits a quarter of an RTO for one of the peer's.
    bench.pass(Duration::from_millis(900));
    let probes = bench.take().iter().filter(|sent| sent.route.remote != peer_address(1)).count();
    assert_eq!(probes, 1);
}

/// RFC 9260 §8.4 rule 1: nothing is taken from or at a non-unicast address.
#[test]
fn packets_from_and_to_non_unicast_addresses_are_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let peer = Peer::new();
    for address in ["224.0.0.1", "255.255.255.255", "ff02::1", "0.0.0.0"] {
        let mut from = peer::route();
        from.remote.set_ip(ip(address));
        bench.deliver_on(from, &peer.init(&[]));
        if address != "0.0.0.0" {
            let mut to = peer::route();
            to.local.set_ip(ip(address));
            bench.deliver_on(to, &peer.init(&[]));
        }
        assert!(bench.take().is_empty(), "{address}");
    }
}

/// RFC 9260 §3.1: port 0 is no port.
#[test]
fn port_zero_is_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let from = Peer { port: 0, ..Peer::new() };
    assert!(bench.ask(&from.init(&[])).is_empty());
    let peer = Peer::new();
    let mut to = peer.header(0);
    to.destination_port = 0;
    assert!(bench.ask(&packet(to, &[&peer.init_builder(&[])])).is_empty());
}

/// RFC 9260 §6.8: a packet with a wrong checksum is silently discarded, whatever it is.
#[test]
fn a_wrong_checksum_is_discarded() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    let good = peer.init(&[]);
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(bench.ask(&bad).is_empty(), "bit {bit}");
    }
    peer.connect(&mut bench);
    let mut heartbeat = peer.packet(&[&whimbrel_wire::Heartbeat { info: b"x" }]);
    heartbeat[8..12].fill(0);
    assert!(bench.ask(&heartbeat).is_empty(), "nobody has agreed to a zero checksum");
}
