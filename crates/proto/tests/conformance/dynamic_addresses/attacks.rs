//! Attacks on dynamic addresses (RFC 5061 §6, RFC 5062, RFC 4895): each is named for what it tries.

use core::time::Duration;

use whimbrel_proto::{Config, Event, PathState};
use whimbrel_wire::{AsconfBuilder, Chunk, CookieEcho, HeartbeatAck, Parameter, chunk_type};

use super::mobile::*;
use crate::auth_peer::AuthPeer;
use whimbrel_testbed::peer::*;

/// What an association looks like to its user; an attack must not change it.
fn look(bench: &Bench) -> (Vec<std::net::IpAddr>, usize, usize) {
    (remotes(bench), bench.paths().len(), bench.events.len())
}

fn bare(serial: u32, requests: &[Parameter<'_>]) -> Raw {
    let chunk =
        AsconfBuilder { sequence_number: serial, address: peer_address(1).ip(), parameters: requests };
    Raw(encoded_chunk(&chunk))
}

/// Of a peer whose address is the second.
fn from_second(mobile: &Mobile, parameters: &[Parameter<'_>]) -> Raw {
    let address = peer_address(2).ip();
    Raw(encoded_chunk(&AsconfBuilder { sequence_number: mobile.serial, address, parameters }))
}

/// RFC 5062 §4, RFC 5061 §6: who knows tag, serial number and addresses but not the key cannot add, delete or
/// redirect, whatever address he uses. Nor does he get an answer.
#[test]
fn hijacking_without_the_key() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    let before = look(&bench);
    let (victim, attacker) = (peer_address(1).ip(), peer_address(66).ip());
    let requests = [add(0, attacker), delete(1, victim), set_primary(2, attacker)];
    let chunk = bare(mobile.serial, &requests);
    let mut wrong_key = mobile.clone();
    wrong_key.key.1 = b"guessed".to_vec();
    let mut wrong_id = mobile.clone();
    wrong_id.key.0 = 5;
    let mut bent = mobile.clone().asconf(&requests);
    let last = bent.len() - 1;
    bent[last] ^= 1;
    let packets = [
        mobile.packet(&[&chunk]),
        wrong_key.asconf(&requests),
        wrong_id.asconf(&requests),
        with_checksum(bent),
        // AUTH behind it, and AUTH over nothing.
        mobile.signed_behind(&[&chunk], &[&whimbrel_wire::Heartbeat { info: b"x" }]),
    ];
    for (n, packet) in packets.iter().enumerate() {
        for route in [between(1, 1), between(1, 2), between(1, 66)] {
            bench.deliver_on(route, packet);
            let sent = bench.take();
            assert!(!holds(&sent, chunk_type::ASCONF_ACK), "{n}");
            assert!(sent.iter().all(|sent| sent.route.remote.ip() != attacker), "{n}");
            assert_eq!((look(&bench).0, look(&bench).1), (before.0.clone(), before.1), "{n}");
        }
    }
    // The real one is still in turn.
    assert_eq!(acks(&mobile.clone(), &bench.ask(&mobile.asconf(&[]))).len(), 1);
}

/// RFC 5061 §5.2 D1, D4, §5.3.2: the source address is looked up before the address that the request names. Where it is another association's of the
/// same ports, the tag does not fit that one.
#[test]
fn a_request_from_an_address_of_another_association() {
    let (mut bench, first) = Mobile::connected(mesh(), 1);
    first.settle(&mut bench);
    let mut other = Mobile::with_initial_tsn(7000);
    other.auth.peer.tag = 0x3333_4444;
    other.connect_on(&mut bench, between(1, 2), &[2]);
    let packet = other.signed(&[&from_second(&other, &[])]);
    bench.deliver_on(between(1, 1), &packet);
    assert!(!holds(&bench.take(), chunk_type::ASCONF_ACK), "from an address of the first");
    bench.deliver_on(between(1, 3), &packet);
    assert!(holds(&bench.take(), chunk_type::ASCONF_ACK), "from an address of nobody");
}

/// RFC 6951 §5.4: two hosts behind one NAT have the same SCTP port, and the NAT gives the one the UDP port that the other had. The tag
/// says whose packets they are.
#[test]
fn a_port_of_the_nat_that_another_had_is_followed() {
    let at = |port: u16| {
        let mut route = between(1, 1);
        route.remote.set_port(port);
        route
    };
    let mut bench = Bench::with_addresses(mesh(), 1);
    let mut first = Mobile::new();
    first.connect_on(&mut bench, at(40_001), &[]);
    let mut other = Mobile::with_initial_tsn(7000);
    other.auth.peer.tag = 0x3333_4444;
    other.connect_on(&mut bench, at(40_002), &[]);
    bench.take();
    bench.deliver_on(at(40_002), &first.packet(&[&whimbrel_wire::Heartbeat { info: b"still me" }]));
    assert!(holds(&bench.take(), chunk_type::HEARTBEAT_ACK));
    let packet = first.asconf(&[]);
    bench.deliver_on(at(40_002), &packet);
    assert!(holds(&bench.take(), chunk_type::ASCONF_ACK));
}

/// D5: an unauthenticated ASCONF takes what is behind it in the packet with it, so that nothing can hide there.
#[test]
fn an_unauthenticated_request_changes_nothing_behind_it() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let chunk = bare(mobile.serial, &[add(0, peer_address(2).ip())]);
    let hidden = mobile.data(0, 0, b"hidden");
    bench.deliver(&mobile.packet(&[&chunk, &hidden]));
    assert!(bench.take().is_empty());
    assert_eq!(remotes(&bench).len(), 1);
    assert!(bench.received().is_empty());
}

/// A recorded request that comes again after it was undone changes nothing, wherever it comes from.
#[test]
fn replaying_an_old_request() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    let recorded: Vec<Vec<u8>> = vec![
        mobile.asconf(&[add(0, peer_address(3).ip()), set_primary(1, peer_address(3).ip())]),
        mobile.asconf(&[set_primary(0, peer_address(1).ip())]),
        mobile.asconf(&[delete(1, peer_address(3).ip())]),
        mobile.asconf(&[add(1, peer_address(4).ip())]),
    ];
    for packet in &recorded {
        bench.deliver(packet);
        mobile.settle(&mut bench);
    }
    let before = look(&bench);
    for packet in recorded.iter().rev().chain(&recorded) {
        for route in [between(1, 1), between(1, 3), between(1, 66)] {
            bench.deliver_on(route, packet);
            mobile.settle(&mut bench);
        }
    }
    assert_eq!((look(&bench).0, look(&bench).1), (before.0, before.1));
}

/// A request recorded in one association is void in the next one of the same hosts: keys follow the random numbers.
#[test]
fn replaying_a_request_of_a_former_association() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let recorded = mobile.asconf(&[add(0, peer_address(66).ip())]);
    let abort = whimbrel_wire::AbortBuilder { tag_reflected: false, causes: &[] };
    bench.deliver(&mobile.packet(&[&abort]));
    let mut again = Mobile::new();
    again.connect(&mut bench, &[]);
    // With the tag made right.
    let mut bytes = recorded;
    bytes[4..8].copy_from_slice(&again.node_tag.to_be_bytes());
    bench.deliver(&with_checksum(bytes));
    assert!(bench.take().is_empty());
    assert_eq!(remotes(&bench).len(), 1);
}

/// RFC 5062 §5, bombing by add and set primary: the victim gets a few small HEARTBEATs, never data, however often its
/// address is added and deleted.
#[test]
fn bombing_a_victim_by_adding_its_address() {
    let mut config = mesh();
    config.heartbeat.max_burst = 1;
    let (mut bench, mut mobile) = Mobile::connected(config, 1);
    let victim = peer_address(66);
    let mut to_victim = Vec::new();
    let (mut rounds, start) = (0, bench.now);
    while bench.now.saturating_since(start) < Duration::from_secs(10) {
        bench.send(0, &[7; 1000]);
        let requests = [add(0, victim.ip()), set_primary(1, victim.ip())];
        bench.deliver(&mobile.asconf(&requests));
        bench.deliver(&mobile.asconf(&[delete(0, victim.ip())]));
        bench.pass(Duration::from_millis(20));
        let sent = bench.take();
        let highest = sent.iter().flat_map(Sent::data).map(|data| data.tsn).next_back();
        if let Some(highest) = highest {
            bench.deliver(&mobile.sack(highest, 100_000));
        }
        to_victim.extend(sent.into_iter().filter(|sent| sent.route.remote == victim));
        rounds += 1;
    }
    assert!(rounds > 100);
    assert!(
        to_victim.iter().all(|sent| matches!(sent.only(), Chunk::Heartbeat(_)) && sent.bytes.len() < 100)
    );
    // HB.Max.Burst is 1 per RTO of at least one second.
    assert!(to_victim.len() <= 11, "{} packets", to_victim.len());
}

/// The same by what is asked from the victim's address: at most three bytes for one.
#[test]
fn bombing_a_victim_by_requests_in_its_name() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let (mut input, mut output) = (0, 0);
    for n in 0..50 {
        let requests: Vec<Parameter<'_>> = (0..n).map(|id| delete(id, ip("10.9.9.9"))).collect();
        let packet = mobile.asconf(&requests);
        input += packet.len();
        bench.deliver_on(between(1, 66), &packet);
        output += bench.take().iter().map(|sent| sent.bytes.len()).sum::<usize>();
    }
    assert!(output <= 3 * input, "{output} bytes for {input}");
    assert_eq!(remotes(&bench).len(), 1);
}

/// A thousand additions, in one chunk and one by one: addresses, paths, answers and events stay bounded.
#[test]
fn a_thousand_additions() {
    let addresses: Vec<_> =
        (0..1000_u32).map(|n| ip(&format!("172.16.{}.{}", n / 250, n % 250 + 1))).collect();
    let (mut bench, mut mobile) = Mobile::connected_with(Config { ..mesh() }, 2, &[]);
    let requests: Vec<Parameter<'_>> = addresses.iter().map(|&address| add(0, address)).collect();
    let sent = bench.ask(&mobile.asconf(&requests));
    assert!(sent.iter().all(|sent| sent.bytes.len() <= 1200), "{sent:?}");
    assert_eq!(acks(&mobile, &sent).len(), 1);
    assert!(remotes(&bench).len() <= 16 && bench.paths().len() <= 32);
    for &address in &addresses {
        let sent = bench.ask(&mobile.asconf(&[add(1, address)]));
        assert!(sent.len() <= 2);
    }
    assert!(remotes(&bench).len() <= 16 && bench.paths().len() <= 32);
    assert!(news(&bench).len() <= 16);
    assert_alive(&mut bench, &mobile.auth.peer);
}

/// Additions and deletions for ever: nothing grows.
#[test]
fn coming_and_going_for_ever() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    for n in 0..1000_u32 {
        let address = ip(&format!("172.16.{}.{}", n / 250, n % 250 + 1));
        bench.deliver(&mobile.asconf(&[add(0, address), set_primary(1, address)]));
        bench.deliver(&mobile.asconf(&[delete(0, address)]));
        bench.take();
    }
    assert_eq!((remotes(&bench).len(), bench.paths().len()), (1, 1));
    assert_alive(&mut bench, &mobile.auth.peer);
}

/// Before the association is established nothing can be added: not to a cookie, not in COOKIE-ECHOED.
#[test]
fn requests_during_the_handshake() {
    let mut bench = Bench::new(mesh());
    let mut mobile = Mobile::new();
    mobile.begin(&mut bench, &[]);
    let early = mobile.clone().asconf(&[add(0, peer_address(66).ip())]);
    bench.deliver(&early);
    bench.take();
    assert_eq!(bench.ups(), 0);
    // Behind the COOKIE ECHO it is in time.
    let serial = mobile.serial;
    let requests = [add(0, peer_address(2).ip())];
    let chunk =
        AsconfBuilder { sequence_number: serial, address: peer_address(1).ip(), parameters: &requests };
    let echo = CookieEcho { cookie: &mobile.cookie };
    bench.deliver(&mobile.signed_behind(&[&echo], &[&chunk]));
    assert_eq!(remotes(&bench).len(), if bench.ups() == 1 { 2 } else { 0 });

    let mut bench = Bench::new(mesh());
    let mut mobile = Mobile::new();
    bench.connect(&[peer_address(1)]);
    mobile.auth.learn_init(&bench.take_only());
    let own = mobile.auth.parameters();
    let mut all = vec![Parameter::StateCookie(b"cookie"), Parameter::SupportedExtensions(&EXTENSIONS)];
    all.extend_from_slice(&own);
    bench.deliver(&mobile.init_ack(&all));
    bench.take();
    let packet = mobile.asconf(&[add(0, peer_address(66).ip())]);
    bench.deliver(&packet);
    assert!(bench.take().is_empty());
    bench.deliver(&mobile.packet(&[&whimbrel_wire::CookieAck]));
    assert_eq!(remotes(&bench), [peer_address(1).ip()]);
    // Repeated now it is carried out: it was not counted.
    assert_eq!(acks(&mobile, &bench.ask(&packet)).len(), 1);
}

/// RFC 5061 §5.1.1 C4: once SHUTDOWN ACK has been sent no request is answered; in the states before it is.
#[test]
fn requests_during_the_shutdown() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    bench.shutdown();
    assert!(holds(&bench.take(), chunk_type::SHUTDOWN));
    assert_eq!(acks(&mobile.clone(), &bench.ask(&mobile.asconf(&[add(0, peer_address(2).ip())]))).len(), 1);
    let shutdown = whimbrel_wire::Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() };
    bench.deliver(&mobile.packet(&[&shutdown]));
    assert!(holds(&bench.take(), chunk_type::SHUTDOWN_ACK));
    let packet = mobile.asconf(&[add(0, peer_address(3).ip()), delete(1, peer_address(1).ip())]);
    bench.deliver(&packet);
    assert!(!holds(&bench.take(), chunk_type::ASCONF_ACK));
    assert_eq!(remotes(&bench).len(), 2);
}

/// The answer to a request was lost, and the end has come since. SHUTDOWN ACK is all that can still be said (C4), and is said to where the peer is now.
#[test]
fn a_request_that_is_repeated_after_the_end() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let packet = mobile.asconf(&[add(0, peer_address(2).ip())]);
    assert_eq!(acks(&mobile.clone(), &bench.ask(&packet)).len(), 1);
    let shutdown = whimbrel_wire::Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() };
    bench.deliver(&mobile.packet(&[&shutdown]));
    assert!(holds(&bench.take(), chunk_type::SHUTDOWN_ACK));
    bench.deliver_on(between(1, 2), &packet);
    let sent = bench.take();
    assert!(holds(&sent, chunk_type::SHUTDOWN_ACK) && !holds(&sent, chunk_type::ASCONF_ACK), "{sent:?}");
    assert_eq!(sent[0].route, between(1, 2));
}

/// The path that SHUTDOWN was sent on is deleted: it goes on over what is left.
#[test]
fn deleting_the_path_of_the_shutdown() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    bench.shutdown();
    assert_eq!(bench.take_only().route, between(1, 1));
    let packet = mobile.asconf(&[delete(0, peer_address(1).ip())]);
    bench.deliver_on(between(1, 2), &packet);
    bench.take();
    bench.pass(Duration::from_secs(5));
    let sent = bench.take();
    assert!(holds(&sent, chunk_type::SHUTDOWN));
    assert!(sent.iter().all(|sent| sent.route == between(1, 2)), "{sent:?}");
}

/// RFC 5062 §3, RFC 9260 §5.2.2: a restart begins with new keys, numbers and only the addresses of its own handshake; requests
/// of the time before are void, those of the node come to nothing.
#[test]
fn requests_across_a_restart() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 2, &[1, 2]);
    up(&mut bench, node_address(3));
    bench.deliver(&mobile.asconf(&[add(0, peer_address(3).ip())]));
    mobile.settle(&mut bench);
    change(&mut bench, &[whimbrel_proto::AddressChange::Add(node_address(3))]);
    bench.take();
    let stale = mobile.asconf(&[add(0, peer_address(66).ip())]);
    let mut again = Mobile::with_initial_tsn(5000);
    again.auth.peer.tag = 0x7777_8888;
    again.auth.random = [0x33; 32];
    again.begin(&mut bench, &[1]);
    bench.deliver(&again.packet(&[&CookieEcho { cookie: &again.cookie }]));
    assert_eq!(bench.restarts(), 1);
    use whimbrel_proto::AddressChangeError::Abandoned;
    assert_eq!(outcomes(&bench).last().map(|(_, outcome)| *outcome), Some(Err(Abandoned)));
    again.settle(&mut bench);
    bench.deliver(&stale);
    bench.take();
    assert_eq!(remotes(&bench), [peer_address(1).ip()]);
    assert_eq!(acks(&again.clone(), &bench.ask(&again.asconf(&[add(0, peer_address(2).ip())]))).len(), 1);
    bench.pass(Duration::from_secs(3));
    assert!(!holds(&bench.take(), chunk_type::ASCONF));
}

/// RFC 5062 §4, RFC 9260 §5.2.2: a restart must not add addresses, and deleted ones are not known any more.
#[test]
fn a_restart_from_a_deleted_address() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    bench.deliver(&mobile.asconf(&[delete(0, peer_address(2).ip())]));
    bench.take();
    let mut again = Mobile::new();
    again.auth.peer.tag = 0x7777_8888;
    let parameters = [Parameter::from(peer_address(2).ip()), Parameter::from(peer_address(1).ip())];
    let sent = bench.ask(&again.init(&parameters));
    assert_eq!(cause_codes(&sent), [whimbrel_wire::cause_code::RESTART_WITH_NEW_ADDRESSES]);
}

/// Redirection by a forged HEARTBEAT ACK: an added address is confirmed by its own nonce only.
#[test]
fn confirming_an_added_address_by_guessing() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let sent = bench.ask(&mobile.asconf(&[add(0, peer_address(66).ip())]));
    let heartbeat = sent.iter().find(|sent| sent.route == between(1, 66)).unwrap();
    let Chunk::Heartbeat(heartbeat) = heartbeat.only() else { panic!() };
    for bit in 0..heartbeat.info.len() * 8 {
        let mut info = heartbeat.info.to_vec();
        info[bit / 8] ^= 1 << (bit % 8);
        bench.deliver_on(between(1, 66), &mobile.packet(&[&HeartbeatAck { info: &info }]));
    }
    assert_eq!(state(&bench, between(1, 66)), PathState::Unconfirmed);
}

/// Downgrade: who takes the extension out of an INIT on the way gets an association whose addresses stay, and the user
/// knows. ASCONF is then dropped.
#[test]
fn taking_the_extension_out_of_the_handshake() {
    let mut bench = Bench::new(mesh());
    let mut peer = AuthPeer::new(&[chunk_type::ASCONF, chunk_type::ASCONF_ACK]);
    peer.connect(&mut bench);
    let dynamic =
        |event: &Event| matches!(event, Event::Up { mobility: whimbrel_proto::Mobility::Dynamic, .. });
    assert!(!bench.events.iter().any(dynamic));
    let requests = [add(0, peer_address(2).ip())];
    let chunk = AsconfBuilder { sequence_number: 1000, address: peer_address(1).ip(), parameters: &requests };
    bench.deliver(&peer.signed(&[&chunk]));
    assert!(bench.take().is_empty());
    assert_eq!(remotes(&bench).len(), 1);
}
