//! Addresses that are translated on the way: no packet names them, wildcards stand for them (RFC 6951 §3.2, §5.7; RFC 5061
//! §4.2.1, §4.2.2, §4.2.4).

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::AddressChange::{Add, Delete, SetPrimary};
use whimbrel_proto::{AddressChangeError as Error, AddressNaming, Config, PathState};
use whimbrel_wire::{Chunk, CookieEcho, Parameter, Parameters, chunk_type, parameter_type as kind};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// As [`mesh`], behind a NAT.
fn translated() -> Config {
    let mut config = mesh();
    config.dar.naming = AddressNaming::Wildcards;
    config
}

fn names_addresses(mut parameters: Parameters<'_>) -> bool {
    parameters.any(|p| matches!(p, Ok(Parameter::Ipv4Address(_) | Parameter::Ipv6Address(_))))
}

/// The node with addresses 1 and 2, which its peer both knows.
fn with_two_known() -> (Bench, Mobile) {
    let (mut bench, mobile) = Mobile::connected(translated(), 1);
    gain(&mut bench, node_address(2));
    mobile.grant_next(&mut bench);
    mobile.settle(&mut bench);
    (bench, mobile)
}

/// The requests of the one ASCONF that leaves now by `route`: each of these kinds, for the wildcard.
#[track_caller]
fn take_request(bench: &mut Bench, mobile: &Mobile, route: Route, kinds: &[u16]) -> Sent {
    let sent = bench.take_only();
    assert_eq!(sent.route, route);
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert!(address.is_unspecified(), "{address}");
    assert!(requests.iter().all(|(.., address)| address.is_unspecified()), "{requests:?}");
    assert_eq!(requests.iter().map(|&(kind, ..)| kind).collect::<Vec<_>>(), kinds);
    sent
}

/// RFC 6951 §5.7: the association begins with one address on our side, however many there are.
#[test]
fn the_handshake_lists_no_address() {
    let mut bench = Bench::with_addresses(translated(), 2);
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    let Chunk::Init(init) = init.only() else { panic!() };
    assert!(!names_addresses(init.parameters));

    let mut bench = Bench::with_addresses(translated(), 2);
    let answer = bench.ask(&Mobile::new().init(&[]));
    let Chunk::InitAck(init_ack) = answer[0].only() else { panic!() };
    assert!(!names_addresses(init_ack.parameters));

    let (mut bench, mobile) = Mobile::connected(translated(), 2);
    assert_eq!(bench.paths().iter().map(|path| path.route).collect::<Vec<_>>(), [between(1, 1)]);
    change(&mut bench, &[Add(node_address(1)), Add(node_address(2))]);
    take_request(&mut bench, &mobile, between(2, 1), &[kind::ADD_IP_ADDRESS]);
}

/// Without a word of the user: a private address towards a public peer.
#[test]
fn a_private_address_is_not_named_to_a_public_peer() {
    let locals: Vec<SocketAddr> = vec![node_address(1), node_address(2)];
    let mut bench = Bench::with_locals(mesh(), locals);
    let mut mobile = Mobile::new();
    let public = Route { remote: "198.51.100.9:41234".parse().unwrap(), ..between(1, 1) };
    let answer = mobile.begin_on(&mut bench, public, &[]);
    let Chunk::InitAck(init_ack) = answer.only() else { panic!() };
    assert!(!names_addresses(init_ack.parameters));
    bench.deliver_on(public, &mobile.packet(&[&CookieEcho { cookie: &mobile.cookie }]));
    mobile.settle(&mut bench);
    change(&mut bench, &[Add(node_address(2))]);
    let route = Route { local: node_address(2), ..public };
    let sent = take_request(&mut bench, &mobile, route, &[kind::ADD_IP_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Ok(()))]);
}

/// RFC 5061 §4.2.1, §4.2.4, §4.2.2: each request leaves from the address it means, and so does its repetition.
#[test]
fn every_request_leaves_from_the_address_it_means() {
    let (mut bench, mobile) = Mobile::connected(translated(), 1);
    let (one, two) = (node_address(1), node_address(2));
    up(&mut bench, two);
    change(&mut bench, &[Add(two), SetPrimary(two.ip())]);
    let both = [kind::ADD_IP_ADDRESS, kind::SET_PRIMARY_ADDRESS];
    take_request(&mut bench, &mobile, between(2, 1), &both);
    bench.pass(Duration::from_millis(1001));
    let sent = take_request(&mut bench, &mobile, between(2, 1), &both);
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(2, 1)), PathState::Active);

    change(&mut bench, &[SetPrimary(one.ip()), SetPrimary(two.ip())]);
    let sent = take_request(&mut bench, &mobile, between(1, 1), &[kind::SET_PRIMARY_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    let sent = take_request(&mut bench, &mobile, between(2, 1), &[kind::SET_PRIMARY_ADDRESS]);
    mobile.grant(&mut bench, &sent);

    change(&mut bench, &[Delete(one.ip())]);
    let sent = take_request(&mut bench, &mobile, between(2, 1), &[kind::DELETE_IP_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    assert!(outcomes(&bench).iter().all(|(_, outcome)| outcome.is_ok()));
    assert_eq!(bench.paths().iter().map(|path| path.route).collect::<Vec<_>>(), [between(2, 1)]);
}

/// Break before make: from one NATed network to another, in one chunk.
#[test]
fn the_node_moves_from_one_nat_to_another() {
    let (mut bench, mobile) = Mobile::connected(translated(), 1);
    let (old, new) = (node_address(1), node_address(2));
    swap(&mut bench, old, new);
    change(&mut bench, &[Add(new), Delete(old.ip()), SetPrimary(new.ip())]);
    let kinds = [kind::ADD_IP_ADDRESS, kind::DELETE_IP_ADDRESS, kind::SET_PRIMARY_ADDRESS];
    let sent = take_request(&mut bench, &mobile, between(2, 1), &kinds);
    mobile.grant(&mut bench, &sent);
    assert!(outcomes(&bench).iter().all(|(_, outcome)| outcome.is_ok()));
    bench.send(0, b"on");
    assert_eq!(bench.take_only().route, between(2, 1));
}

/// RFC 5061 §4.2.2 deletes all but the source: it is not asked for when it takes away more than is meant.
#[test]
fn one_of_three_cannot_be_deleted_two_can() {
    let (mut bench, mobile) = with_two_known();
    let ips = [1, 2, 3].map(|n| node_address(n).ip());
    gain(&mut bench, node_address(3));
    mobile.grant_next(&mut bench);
    mobile.settle(&mut bench);
    bench.events.clear();
    change(&mut bench, &[Delete(ips[1])]);
    assert_eq!(outcomes(&bench), [(Delete(ips[1]), Err(Error::CannotBeNamed))]);
    assert!(bench.take().is_empty());
    assert_eq!(bench.paths().len(), 3);

    bench.events.clear();
    change(&mut bench, &[Delete(ips[0]), Delete(ips[1])]);
    let source = bench.take_only();
    assert_eq!(source.route, between(3, 1), "the one that stays");
    mobile.grant(&mut bench, &source);
    assert_eq!(outcomes(&bench), [(Delete(ips[0]), Ok(())), (Delete(ips[1]), Ok(()))]);
    assert_eq!(bench.paths().len(), 1);
}

/// A refused deletion leaves everything as it was; the last address is not even asked for.
#[test]
fn a_deletion_that_is_refused_is_taken_back() {
    let (mut bench, mobile) = with_two_known();
    let one = node_address(1).ip();
    change(&mut bench, &[Delete(one)]);
    let sent = take_request(&mut bench, &mobile, between(2, 1), &[kind::DELETE_IP_ADDRESS]);
    let (serial, _, requests) = mobile.read_asconf(&sent);
    let refusal = Parameter::ErrorCauseIndication(whimbrel_wire::ErrorCauseIndication {
        correlation_id: requests[0].1,
        causes: whimbrel_wire::Causes::from_wire(&[]),
    });
    bench.deliver_on(sent.route, &mobile.ack(serial, &[refusal]));
    mobile.settle(&mut bench);
    assert_eq!(bench.paths().len(), 2);
    down(&mut bench, node_address(2));
    bench.events.clear();
    change(&mut bench, &[Delete(one)]);
    assert_eq!(outcomes(&bench), [(Delete(one), Err(Error::LastAddress))]);
}

/// The peer comes from behind another NAT, which has given it another address and another port (RFC 6951 §5.4): found by the
/// tag, added, made primary, and the old one deleted, none of them named.
#[test]
fn a_peer_that_changes_its_nat_is_followed() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let any = ip("0.0.0.0");
    let new = Route { remote: SocketAddr::new(peer_address(2).ip(), 40_000), ..between(1, 2) };
    let packet = mobile.asconf_naming(any, &[add(0, any), delete(1, any), set_primary(2, any)]);
    bench.deliver_on(new, &packet);
    let sent = bench.take_only();
    assert_eq!(sent.route, new);
    assert_eq!(responses(&mobile, std::slice::from_ref(&sent)), []);
    mobile.answer_heartbeats(&mut bench, &sent);
    assert_eq!((bench.paths().len(), primary(&bench)), (1, new));
    bench.send(0, b"through the other NAT");
    assert_eq!(bench.take_only().route, new);
}

/// The address that a wildcard means goes down before the peer has answered. The chunk is repeated from elsewhere, since nothing
/// else can be asked before; what it does there is not counted on.
#[test]
fn a_request_whose_address_is_lost_does_not_block_others() {
    let (mut bench, mobile) = with_two_known();
    let (two, three) = (node_address(2), node_address(3));
    change(&mut bench, &[SetPrimary(two.ip())]);
    take_request(&mut bench, &mobile, between(2, 1), &[kind::SET_PRIMARY_ADDRESS]);
    down(&mut bench, node_address(1));
    down(&mut bench, two);
    assert!(bench.take().is_empty());
    bench.events.clear();
    up(&mut bench, three);
    change(&mut bench, &[Add(three), Delete(node_address(1).ip()), Delete(two.ip())]);
    let sent = take_request(&mut bench, &mobile, between(3, 1), &[kind::SET_PRIMARY_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    assert_eq!(outcomes(&bench), [(SetPrimary(two.ip()), Err(Error::AddressLost))]);
    let kinds = [kind::ADD_IP_ADDRESS, kind::DELETE_IP_ADDRESS, kind::DELETE_IP_ADDRESS];
    let sent = take_request(&mut bench, &mobile, between(3, 1), &kinds);
    mobile.grant(&mut bench, &sent);
    assert!(outcomes(&bench)[1..].iter().all(|(_, outcome)| outcome.is_ok()));
    assert_eq!(bench.paths().iter().map(|path| path.route).collect::<Vec<_>>(), [between(3, 1)]);
}

/// A deletion by wildcard is answered only after it has left from another address than it meant: the peer may know that one alone, or
/// the other. What is there is added, and nothing else is counted on.
#[test]
fn after_a_deletion_that_went_astray_the_address_left_is_added_again() {
    let (mut bench, mobile) = with_two_known();
    let (one, two) = (node_address(1), node_address(2));
    change(&mut bench, &[SetPrimary(two.ip()), Delete(one.ip())]);
    take_request(&mut bench, &mobile, between(2, 1), &[kind::SET_PRIMARY_ADDRESS, kind::DELETE_IP_ADDRESS]);
    down(&mut bench, two);
    bench.events.clear();
    let sent = take_request(
        &mut bench,
        &mobile,
        between(1, 1),
        &[kind::SET_PRIMARY_ADDRESS, kind::DELETE_IP_ADDRESS],
    );
    mobile.grant(&mut bench, &sent);
    let lost = Err(Error::AddressLost);
    assert_eq!(
        outcomes(&bench),
        [(SetPrimary(two.ip()), lost), (Delete(one.ip()), lost), (Delete(two.ip()), Ok(()))]
    );
    bench.events.clear();
    // A heartbeat comes along: the path carries data again as soon as that is answered.
    let sent = bench.take();
    let asconf = |sent: &&Sent| sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Asconf(_)));
    let sent = sent.iter().find(asconf).unwrap();
    assert_eq!(sent.route, between(1, 1));
    let (_, _, requests) = mobile.read_asconf(sent);
    assert_eq!(requests.iter().map(|&(kind, ..)| kind).collect::<Vec<_>>(), [kind::ADD_IP_ADDRESS]);
    mobile.grant(&mut bench, sent);
    assert_eq!(outcomes(&bench), [(Add(one), Ok(()))]);
    bench.pass(Duration::from_secs(1));
    mobile.settle(&mut bench);
    bench.send(0, b"on");
    assert_eq!(bench.take_only().route, between(1, 1));
    assert_eq!(bench.paths().len(), 1);
}

/// What waits for an address that is down meanwhile is given up, or it would keep what waits behind it from leaving.
#[test]
fn a_wish_for_an_address_that_is_down_does_not_block_others() {
    let (mut bench, mobile) = with_two_known();
    let (one, two, three) = (node_address(1), node_address(2), node_address(3));
    change(&mut bench, &[SetPrimary(one.ip()), SetPrimary(two.ip()), Delete(one.ip())]);
    take_request(&mut bench, &mobile, between(1, 1), &[kind::SET_PRIMARY_ADDRESS]);
    down(&mut bench, one);
    down(&mut bench, two);
    bench.take();
    bench.events.clear();
    gain(&mut bench, three);
    let sent = take_request(&mut bench, &mobile, between(3, 1), &[kind::SET_PRIMARY_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    let sent = take_request(&mut bench, &mobile, between(3, 1), &[kind::ADD_IP_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    let lost = Err(Error::AddressLost);
    let last = (Delete(one.ip()), Err(Error::LastAddress));
    let expected = [(SetPrimary(one.ip()), lost), (SetPrimary(two.ip()), lost), last, (Add(three), Ok(()))];
    assert_eq!(outcomes(&bench), expected);
}

/// A bridge between containers has an address that leads to nobody, and its addition leaves from there. What adds another network does not wait until each
/// of the peer's addresses, of which most lead to nobody either, has been tried twice.
#[test]
fn an_addition_that_gets_nowhere_does_not_hold_up_another() {
    let (mut bench, mobile) = Mobile::connected_with(translated(), 1, &[1, 2, 3, 4, 5, 6, 7]);
    let (bridge, network) = (node_address(2), node_address(3));
    [bridge, network].into_iter().for_each(|address| up(&mut bench, address));
    change(&mut bench, &[Add(bridge), Add(network)]);
    let until = |bench: &mut Bench, added: SocketAddr, silent: Option<SocketAddr>| {
        (0..1_000).find(|_| {
            for sent in bench.take() {
                let asks = sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Asconf(_)));
                if asks && Some(sent.route.local) != silent && sent.route.remote == peer_address(1) {
                    mobile.grant(bench, &sent);
                }
            }
            bench.pass(Duration::from_millis(10));
            outcomes(bench).contains(&(Add(added), Ok(())))
        })
    };
    let steps = until(&mut bench, network, Some(bridge));
    assert!(steps.is_some_and(|steps| steps < 400), "{steps:?} x 10 ms");
    // It was postponed: its first packets may have been lost.
    assert_eq!(outcomes(&bench).iter().find(|(change, _)| *change == Add(bridge)), None);
    assert!(until(&mut bench, bridge, None).is_some());
}

/// Where no address is left that the peer is known to know, the one that was is not named either.
#[test]
fn an_address_that_is_gone_is_not_named() {
    let (mut bench, mobile) = with_two_known();
    let (one, two, three) = (node_address(1), node_address(2), node_address(3));
    change(&mut bench, &[Delete(one.ip())]);
    take_request(&mut bench, &mobile, between(2, 1), &[kind::DELETE_IP_ADDRESS]);
    down(&mut bench, two);
    let astray = take_request(&mut bench, &mobile, between(1, 1), &[kind::DELETE_IP_ADDRESS]);
    mobile.grant(&mut bench, &astray);
    bench.take();
    down(&mut bench, one);
    bench.take();
    gain(&mut bench, three);
    let again = take_request(&mut bench, &mobile, between(3, 1), &[kind::ADD_IP_ADDRESS]);
    mobile.grant(&mut bench, &again);
    take_request(&mut bench, &mobile, between(3, 1), &[kind::ADD_IP_ADDRESS]);
}

/// The first ASCONF that a node sends into a silence of a minute, and after how many milliseconds.
fn asconf_in_a_silence(bench: &mut Bench) -> Option<(Sent, u64)> {
    (0..6_000).find_map(|n| {
        bench.send(0, b"into the silence");
        bench.pass(Duration::from_millis(10));
        let mut sent = bench.take().into_iter();
        let asconf = sent.find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF))?;
        Some((asconf, n * 10))
    })
}

/// The kinds of requests in an ASCONF all of whose addresses are wildcards.
#[track_caller]
fn kinds_of(mobile: &Mobile, sent: &Sent) -> Vec<u16> {
    let (_, address, requests) = mobile.read_asconf(sent);
    assert!(address.is_unspecified() && requests.iter().all(|(.., address)| address.is_unspecified()));
    requests.iter().map(|&(kind, ..)| kind).collect()
}

fn translated_and_quick() -> Config {
    let mut config = Config::mobile();
    config.dar.naming = AddressNaming::Wildcards;
    config
}

/// A translator gives the address another outer one, and nobody tells: nothing comes back any more. The address is added once more
/// (RFC 6951 §5.7).
#[test]
fn an_address_to_which_nothing_comes_back_is_added_once_more() {
    let (mut bench, mobile) = Mobile::connected(translated_and_quick(), 1);
    let (sent, after) = asconf_in_a_silence(&mut bench).expect("an ASCONF");
    assert!(after < 2_000, "{after} ms");
    assert_eq!(sent.route, between(1, 1));
    assert_eq!(kinds_of(&mobile, &sent), [kind::ADD_IP_ADDRESS, kind::SET_PRIMARY_ADDRESS]);
    mobile.grant(&mut bench, &sent);
    assert_eq!(state(&bench, between(1, 1)), PathState::Active);
    assert_eq!(bench.paths().len(), 1);
}

/// Of two addresses one works: the other is added once more.
#[test]
fn a_silent_address_beside_one_that_works_is_added_once_more() {
    let (mut bench, mobile) = Mobile::connected(translated_and_quick(), 1);
    gain(&mut bench, node_address(2));
    mobile.grant_next(&mut bench);
    mobile.settle(&mut bench);
    let again = (0..6_000).find_map(|_| {
        bench.pass(Duration::from_millis(10));
        let sent = bench.take();
        let works = |sent: &&Sent| sent.route.local == node_address(1);
        sent.iter().filter(works).for_each(|sent| mobile.answer_heartbeats(&mut bench, sent));
        sent.into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF))
    });
    let sent = again.expect("an ASCONF");
    assert_eq!(sent.route.local, node_address(2));
    assert_eq!(kinds_of(&mobile, &sent), [kind::ADD_IP_ADDRESS]);
}

/// Not where nobody asked for more than the RFCs, nor of an address that the peer knows by its own name.
#[test]
fn an_address_is_added_once() {
    let literal = Config::mobile();
    for config in [translated(), literal] {
        let (mut bench, _) = Mobile::connected(config, 1);
        assert!(asconf_in_a_silence(&mut bench).is_none());
    }
}
