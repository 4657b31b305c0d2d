//! Addresses that nobody has confirmed, and what may be sent to them (RFC 9260 §5.4; RFC 5062 §3, §4).
//!
//! Why the node is no amplifier: to an unconfirmed address go HEARTBEATs, HEARTBEAT ACKs and COOKIE ACK, nothing else. A
//! HEARTBEAT is one packet of less than 100 bytes, HB.Max.Burst of them per RTO for the whole association, fewer once
//! the path has failed. A HEARTBEAT ACK is no longer than the HEARTBEAT it answers, one per packet. COOKIE ACK answers a
//! COOKIE ECHO that is longer by the whole cookie.

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{Command, PathState};
use whimbrel_wire::{Chunk, EmitChunk, Heartbeat, HeartbeatAck};

use whimbrel_testbed::peer::{self, Bench, Peer, Raw, Sent, data, ip, node_address, peer_address, quiet};

const VICTIM: &str = "198.51.100.7";

/// When the node has probed what its peer has not.
const FIRST_PROBE: Duration = Duration::from_millis(300);

/// A peer with address 1 that claims to have the victim's as well.
fn claimed() -> (Bench, Peer) {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[ip(VICTIM)]);
    (bench, peer)
}

/// The same, once the claimed address has been probed: the node leaves the peer a quarter of an RTO to begin.
fn probed() -> (Bench, Peer, Vec<Sent>) {
    let (mut bench, peer) = claimed();
    bench.pass(FIRST_PROBE);
    let sent = bench.take();
    (bench, peer, sent)
}

fn victim() -> Route {
    let mut route = peer::route();
    route.remote.set_ip(ip(VICTIM));
    route
}

fn to(sent: &[Sent], address: IpAddr) -> Vec<&Sent> {
    sent.iter().filter(|sent| sent.route.remote.ip() == address).collect()
}

fn state(bench: &Bench, address: IpAddr) -> PathState {
    bench.paths().iter().find(|path| path.route.remote.ip() == address).unwrap().state
}

fn info(sent: &[&Sent]) -> Vec<u8> {
    sent.iter().flat_map(|sent| sent.heartbeats()).next().expect("a HEARTBEAT was sent").to_vec()
}

/// RFC 9260 §5.4: only the address the INIT ACK went to is confirmed; the claimed one gets HEARTBEATs and nothing else,
/// whatever the primary does.
#[test]
fn nothing_but_heartbeats_goes_to_an_unconfirmed_address() {
    let (mut bench, peer) = claimed();
    for n in 0..50 {
        bench.send(n % 10, &[1; 3000]);
    }
    // The primary never answers: timeouts, failover, shutdown.
    let mut sent = Vec::new();
    for _ in 0..40 {
        bench.pass(Duration::from_millis(1500));
        sent.extend(bench.take());
        if bench.closed().is_some() {
            break;
        }
        bench.deliver_on(victim(), &peer.packet(&[&Raw::chunk(0xfe, 0, &[0; 100])]));
        bench.deliver_on(victim(), &peer.packet(&[&data(peer.tsn, 60_000, 0, b"x")]));
        bench.deliver_on(victim(), &peer.packet(&[&data(peer.tsn.next(), 0, 0, b"x")]));
    }
    bench.shutdown();
    bench.pass(Duration::from_secs(30));
    sent.extend(bench.take());
    let probes = to(&sent, ip(VICTIM));
    assert!(!probes.is_empty());
    for probe in probes {
        for chunk in probe.chunks() {
            assert!(matches!(chunk, Chunk::Heartbeat(_)), "{chunk:?}");
        }
        assert!(probe.bytes.len() <= 100);
    }
}

/// RFC 9260 §5.4: one HEARTBEAT per RTO, until Path.Max.Retrans is exceeded, then one per heartbeat interval. A host that
/// was named as the address of a thousand associations' peers is not flooded.
#[test]
fn an_unconfirmed_address_is_probed_once_per_rto_and_ever_less() {
    let (mut bench, peer) = claimed();
    let mut sent = bench.take();
    for _ in 0..600 {
        bench.pass(Duration::from_secs(1));
        let new = bench.take();
        // The real address answers.
        for heartbeat in to(&new, peer_address(1).ip()) {
            peer.answer_heartbeats(&mut bench, heartbeat);
        }
        sent.extend(new);
    }
    let times: Vec<f64> = to(&sent, ip(VICTIM)).iter().map(|sent| sent.at.as_secs_f64()).collect();
    // RTO 1 s doubles with each: six until the path has failed, at 1, 2, 4, 8, 16, 32 s after the handshake or later.
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 1.0), "{times:?}");
    assert!(times.iter().filter(|&&at| at < 65.0).count() <= 7, "{times:?}");
    let later: Vec<f64> = times.into_iter().filter(|&at| at > 65.0).collect();
    assert!(later.windows(2).all(|pair| pair[1] - pair[0] >= 30.0), "{later:?}");
    assert_ne!(state(&bench, ip(VICTIM)), PathState::Active);
    assert_eq!(bench.closed(), None, "unconfirmed paths do not count against the association");
}

/// RFC 9260 §5.4: HB.Max.Burst limits all probes together.
#[test]
fn many_claimed_addresses_share_one_budget() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    let claims: Vec<IpAddr> = (0..15).map(|n| IpAddr::from([198, 51, 100, n])).collect();
    peer.connect_with(&mut bench, &claims);
    let mut probes = Vec::new();
    let mut collect = |bench: &mut Bench| {
        probes.extend(
            bench.take().iter().filter(|sent| sent.route.remote != peer_address(1)).map(|sent| sent.at),
        );
    };
    collect(&mut bench);
    bench.pass(Duration::from_secs(20));
    collect(&mut bench);
    assert!(probes.len() <= 21, "{} probes in 20 s with RTO 1 s and HB.Max.Burst 1", probes.len());
    assert!(probes.len() >= 10, "{} probes", probes.len());
}

/// The same limit where something is heard from there (RFC 9260 §5.4): whoever sends a small packet in the name of each address does
/// not cause a HEARTBEAT to each.
#[test]
fn claimed_addresses_that_are_heard_share_the_budget() {
    let mut config = quiet();
    config.heartbeat.interval = None;
    let mut bench = Bench::new(config);
    let mut peer = Peer::new();
    let claims: Vec<IpAddr> = (0..15).map(|n| IpAddr::from([198, 51, 100, n])).collect();
    peer.connect_with(&mut bench, &claims);
    bench.pass(Duration::from_secs(600));
    bench.take();
    for claim in claims {
        let mut from = victim();
        from.remote.set_ip(claim);
        bench.deliver_on(from, &peer.sack(peer.node_tsn.prev(), 1000));
    }
    assert_eq!(bench.closed(), None);
    assert!(bench.take().len() <= 1);
}

/// In sum: at most three bytes go out for each byte that came in from an unconfirmed address, beyond one
/// small HEARTBEAT per RTO, whatever is asked from there.
#[test]
fn no_question_from_an_unconfirmed_address_is_amplified() {
    let heartbeat = Heartbeat { info: &[5; 400] };
    let tiny = Heartbeat { info: &[] };
    let unknown = Raw::chunk(0xc7, 0, b"");
    let unknowns: Vec<&dyn EmitChunk> = vec![&unknown; 50];
    let invalid = data(whimbrel_wire::Tsn(1000), 60_000, 0, b"x");
    let questions: [&[&dyn EmitChunk]; 6] =
        [&[&heartbeat], &[&tiny], &[&tiny, &tiny, &tiny, &heartbeat], &unknowns, &[&invalid], &[&unknown]];
    for chunks in questions {
        let (mut bench, peer) = claimed();
        bench.take();
        let question = peer.packet(chunks);
        for _ in 0..20 {
            bench.deliver_on(victim(), &question);
        }
        let sent = bench.take();
        let out: usize = to(&sent, ip(VICTIM)).iter().map(|sent| sent.bytes.len()).sum();
        assert!(out <= 3 * 20 * question.len(), "{out} bytes for {}", 20 * question.len());
        // RFC 9260 §5.4: of answers only HEARTBEAT ACK may go there. With the first goes the probe that was due anyway.
        let chunks = to(&sent, ip(VICTIM)).into_iter().flat_map(Sent::chunks);
        let (answers, others): (Vec<_>, Vec<_>) =
            chunks.partition(|chunk| matches!(chunk, Chunk::HeartbeatAck(_)));
        assert!(others.len() <= 1 && answers.len() >= others.len(), "{others:?}");
        assert!(others.iter().all(|chunk| matches!(chunk, Chunk::Heartbeat(_))), "{others:?}");
    }
}

/// RFC 9260 §5.4: a path is confirmed by its nonce. A HEARTBEAT ACK with another one, or another path's, confirms nothing.
#[test]
fn a_heartbeat_ack_with_a_wrong_nonce_confirms_nothing() {
    let (mut bench, peer, sent) = probed();
    let genuine = info(&to(&sent, ip(VICTIM)));
    for index in 0..genuine.len() {
        let mut forged = genuine.clone();
        forged[index] ^= 0x10;
        for route in [victim(), peer::route()] {
            bench.deliver_on(route, &peer.packet(&[&HeartbeatAck { info: &forged }]));
            assert_eq!(state(&bench, ip(VICTIM)), PathState::Unconfirmed, "byte {index}");
        }
    }
    for length in 0..genuine.len() {
        bench.deliver(&peer.packet(&[&HeartbeatAck { info: &genuine[..length] }]));
    }
    let longer = [&genuine[..], &[0]].concat();
    bench.deliver(&peer.packet(&[&HeartbeatAck { info: &longer }]));
    assert_eq!(state(&bench, ip(VICTIM)), PathState::Unconfirmed);
    bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: &genuine }]));
    assert_eq!(state(&bench, ip(VICTIM)), PathState::Active);
}

/// A nonce is good once, and only until its RTO is over (RFC 9260 §8.3).
#[test]
fn an_old_heartbeat_ack_measures_and_confirms_nothing() {
    let (mut bench, peer, sent) = probed();
    let first = info(&to(&sent, ip(VICTIM)));
    bench.pass(Duration::from_millis(1200));
    let sent = bench.take();
    let second = info(&to(&sent, ip(VICTIM)));
    assert_ne!(first, second);
    bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: &first }]));
    assert_eq!(state(&bench, ip(VICTIM)), PathState::Unconfirmed);
    bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: &second }]));
    assert_eq!(state(&bench, ip(VICTIM)), PathState::Active);
    let rtt = |bench: &Bench| bench.paths()[1].srtt;
    let measured = rtt(&bench);
    bench.pass(Duration::from_millis(500));
    bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: &second }]));
    assert_eq!(rtt(&bench), measured, "counted twice");
}

/// RFC 9260 §5.4: an unconfirmed address must not become the primary path.
#[test]
fn an_unconfirmed_path_cannot_be_made_primary() {
    let (mut bench, _) = claimed();
    let association = bench.association();
    let path = bench.paths()[1].id;
    bench.command(Command::SetPrimary { association, path });
    assert!(bench.paths()[0].primary);
    bench.take();
    bench.send(0, b"x");
    assert_eq!(bench.take_only().route, peer::route());
}

/// RFC 9260 §8.3: HEARTBEAT is answered to where it came from, its info unchanged, once per packet.
#[test]
fn a_heartbeat_is_answered_where_it_came_from() {
    let mut bench = Bench::with_addresses(quiet(), 2);
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[ip("10.0.2.2")]);
    bench.pass(FIRST_PROBE);
    bench.take();
    let second = Route { local: node_address(2), remote: peer_address(2) };
    bench.deliver_on(second, &peer.packet(&[&Heartbeat { info: b"\x00\xffodd" }]));
    let sent = bench.take_only();
    assert_eq!(sent.route, second);
    assert_eq!(sent.only(), Chunk::HeartbeatAck(HeartbeatAck { info: b"\x00\xffodd" }));
}

/// RFC 9260 §5.4 allows HEARTBEAT and HEARTBEAT ACK towards an unconfirmed address: when the peer probes first, both go
/// in one packet, and its answer confirms the path. That was the only probe of this RTO.
#[test]
fn the_first_probe_goes_with_the_answer_to_the_peers() {
    let (mut bench, peer) = claimed();
    bench.take();
    bench.deliver_on(victim(), &peer.packet(&[&Heartbeat { info: b"theirs" }]));
    let sent = bench.take_only();
    assert_eq!(sent.route, victim());
    let chunks = sent.chunks();
    let [Chunk::HeartbeatAck(HeartbeatAck { info: b"theirs" }), Chunk::Heartbeat(ours)] = &chunks[..] else {
        panic!("{chunks:?}")
    };
    bench.deliver_on(victim(), &peer.packet(&[&Heartbeat { info: b"again" }]));
    assert!(matches!(bench.take_only().only(), Chunk::HeartbeatAck(_)));
    bench.pass(FIRST_PROBE);
    assert!(to(&bench.take(), ip(VICTIM)).is_empty());
    bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: ours.info }]));
    assert_eq!(state(&bench, ip(VICTIM)), PathState::Active);
}

/// RFC 9260 §5.4: HB.Max.Burst holds for probes that go with answers, too.
#[test]
fn probes_that_go_with_answers_share_the_budget() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    let claims: Vec<IpAddr> = (0..15).map(|n| IpAddr::from([198, 51, 100, n])).collect();
    peer.connect_with(&mut bench, &claims);
    bench.take();
    for &claim in &claims {
        let route = Route { remote: core::net::SocketAddr::new(claim, victim().remote.port()), ..victim() };
        bench.deliver_on(route, &peer.packet(&[&Heartbeat { info: b"theirs" }]));
    }
    let sent = bench.take();
    let probes = sent.iter().flat_map(Sent::chunks).filter(|chunk| matches!(chunk, Chunk::Heartbeat(_)));
    assert_eq!(probes.count(), 1, "HB.Max.Burst is 1");
}

/// A peer in another private network of the same numbers lists our own address, or one that a neighbour of ours has: nothing is
/// sent to ourselves, and whoever answers at the other with an ABORT does not end the association (RFC 5062 §2).
#[test]
fn an_address_of_the_peer_that_somebody_else_has() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[peer::route().local.ip(), ip(VICTIM)]);
    bench.pass(Duration::from_secs(5));
    let sent = bench.take();
    assert!(to(&sent, peer::route().local.ip()).is_empty());
    assert!(!to(&sent, ip(VICTIM)).is_empty());
    let neighbour = peer::packet(
        peer.header(peer.tag),
        &[&whimbrel_wire::AbortBuilder { tag_reflected: true, causes: &[] }],
    );
    bench.deliver_on(victim(), &neighbour);
    assert_eq!(bench.closed(), None);
    // From an address that is known to be the peer's it is believed (RFC 9260 §8.5.1 B).
    bench.deliver(&neighbour);
    assert!(bench.closed().is_some());
}

/// RFC 9260 §5.4: COOKIE ACK goes to an unconfirmed address only with a HEARTBEAT, a repetition of the one under way: whoever repeats a
/// COOKIE ECHO there gets the proof it needs, and the answer to any of them is one.
#[test]
fn a_repeated_cookie_echo_from_an_unconfirmed_address_is_answered_with_a_heartbeat() {
    let (mut bench, peer, sent) = probed();
    let under_way = info(&to(&sent, ip(VICTIM)));
    for _ in 0..2 {
        let question = peer.cookie_echo();
        bench.deliver_on(victim(), &question);
        let sent = bench.take();
        assert!(sent.len() == 1 && sent[0].route == victim(), "{sent:?}");
        let [Chunk::CookieAck, Chunk::Heartbeat(Heartbeat { info })] = sent[0].chunks()[..] else {
            panic!("{sent:?}");
        };
        assert_ne!(info, under_way, "each measures");
        assert!(sent[0].bytes.len() < question.len());
    }
    bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: &under_way }]));
    assert_eq!(state(&bench, ip(VICTIM)), PathState::Active);
    let path = bench.paths().into_iter().find(|path| path.route == victim()).unwrap();
    assert!(path.srtt.is_some(), "each has a nonce of its own (RFC 9260 §6.3.1 C5)");
}

/// RFC 9260 §6.4, §5.4: COOKIE ACK goes to where COOKIE ECHO came from, with a HEARTBEAT if that is no address of the peer's: it may
/// have moved since its INIT, and have no other way to learn that it is heard. The answer makes no path.
#[test]
fn a_cookie_echo_from_a_foreign_address_is_answered_there_with_a_heartbeat() {
    let (mut bench, peer) = Peer::begun(quiet());
    for _ in 0..2 {
        let question = peer.cookie_echo();
        bench.deliver_on(victim(), &question);
        let sent = bench.take();
        assert!(sent.len() == 1 && sent[0].route == victim(), "{sent:?}");
        let [Chunk::CookieAck, Chunk::Heartbeat(probe)] = sent[0].chunks()[..] else { panic!("{sent:?}") };
        assert!(sent[0].bytes.len() < question.len());
        bench.deliver_on(victim(), &peer.packet(&[&HeartbeatAck { info: probe.info }]));
        bench.pass(Duration::from_secs(20));
        assert!(bench.paths().len() == 1 && bench.take().iter().all(|sent| sent.route != victim()));
    }
}

/// RFC 9260 §8.3: a HEARTBEAT is answered however long it is, with all that is in it.
#[test]
fn a_long_heartbeat_is_answered() {
    let (mut bench, peer) = Peer::connected(quiet());
    for length in [1000, 1400, 9000, 60_000] {
        let info = vec![7; length];
        let sent = bench.ask(&peer.packet(&[&Heartbeat { info: &info }]));
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].only(), Chunk::HeartbeatAck(HeartbeatAck { info: &info }));
    }
}
