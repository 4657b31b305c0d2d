//! The node tells the peer of its addresses (RFC 5061 §5.1, §5.1.1, §5.3 F1 to F6).

use core::time::Duration;

use whimbrel_proto::AddressChange::{Add, Delete, SetPrimary};
use whimbrel_proto::{AddressChangeError as Error, Command, DarMode, Mobility, PathState, StaticReason};
use whimbrel_wire::{Chunk, Heartbeat, chunk_type, parameter_type as kind};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// A node with address 1, and address 2 up but unknown to the peer.
fn with_second_address(config: whimbrel_proto::Config) -> (Bench, Mobile) {
    let (mut bench, mobile) = Mobile::connected(config, 1);
    up(&mut bench, node_address(2));
    assert!(bench.take().is_empty(), "an address that comes up is not announced by itself");
    (bench, mobile)
}

/// A1, A2: the requests in the order given, in one chunk, authenticated; serial numbers begin with the initial TSN.
#[test]
fn changes_go_out_in_order_in_one_chunk() {
    let (mut bench, mobile) = with_second_address(mesh());
    let (one, two) = (node_address(1), node_address(2));
    change(&mut bench, &[Add(two), SetPrimary(two.ip()), SetPrimary(one.ip())]);
    let sent = bench.take_only();
    assert_eq!(sent.route, between(1, 1));
    let (serial, address, requests) = mobile.read_asconf(&sent);
    assert_eq!((serial, address), (mobile.first_serial(), one.ip()));
    let wanted = [
        (kind::ADD_IP_ADDRESS, 0, two.ip()),
        (kind::SET_PRIMARY_ADDRESS, 1, two.ip()),
        (kind::SET_PRIMARY_ADDRESS, 2, one.ip()),
    ];
    assert_eq!(requests, wanted);
    mobile.grant(&mut bench, &sent);
    let answers: Vec<_> = outcomes(&bench).into_iter().collect();
    assert_eq!(answers, [(Add(two), Ok(())), (SetPrimary(two.ip()), Ok(())), (SetPrimary(one.ip()), Ok(()))]);
}

/// C1, A3: one chunk is under way at a time; what is asked for meanwhile waits and keeps its order, so that an addition
/// always comes before the request to make that address primary.
#[test]
fn one_chunk_is_under_way_at_a_time() {
    let (mut bench, mobile) = with_second_address(mesh());
    let two = node_address(2);
    change(&mut bench, &[SetPrimary(node_address(1).ip())]);
    let first = bench.take_only();
    change(&mut bench, &[Add(two)]);
    change(&mut bench, &[SetPrimary(two.ip())]);
    assert!(bench.take().is_empty());
    mobile.grant(&mut bench, &first);
    let second = bench.take_only();
    let (serial, _, requests) = mobile.read_asconf(&second);
    assert_eq!(serial, mobile.first_serial().wrapping_add(1));
    let kinds: Vec<u16> = requests.iter().map(|&(kind, ..)| kind).collect();
    assert_eq!(kinds, [kind::ADD_IP_ADDRESS, kind::SET_PRIMARY_ADDRESS]);
    assert_eq!(outcomes(&bench).len(), 1);
}

/// B1 to B5: repeated unchanged when T4 expires, with the RTO doubled, until the association counts as lost.
#[test]
fn an_unanswered_chunk_is_repeated_until_the_association_is_lost() {
    let mut config = mesh();
    config.failure.association = whimbrel_proto::AssociationFailure::Errors(3);
    config.heartbeat.interval = None;
    let (mut bench, _) = with_second_address(config);
    change(&mut bench, &[SetPrimary(node_address(1).ip())]);
    bench.pass(Duration::from_secs(100));
    let sent = bench.take();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent.iter().all(|again| again.bytes == sent[0].bytes), "B4: unchanged");
    let gaps: Vec<u64> =
        sent.windows(2).map(|pair| pair[1].at.saturating_since(pair[0].at).as_millis() as u64).collect();
    assert_eq!(gaps, [1000, 2000, 4000]);
    assert!(bench.closed().is_some());
    assert_eq!(outcomes(&bench), [(SetPrimary(node_address(1).ip()), Err(Error::Abandoned))]);
}

/// B4: the repetition takes another path if there is one.
#[test]
fn a_repetition_takes_another_path() {
    let (mut bench, mobile) = Mobile::connected_with(mesh(), 2, &[1, 2]);
    change(&mut bench, &[SetPrimary(node_address(2).ip())]);
    let first = bench.take_only();
    bench.pass(Duration::from_millis(1001));
    let again =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    assert_eq!((first.route, first.bytes == again.bytes), (between(1, 1), true));
    assert_ne!(again.route, first.route);
    mobile.grant(&mut bench, &again);
    assert_eq!(outcomes(&bench), [(SetPrimary(node_address(2).ip()), Ok(()))]);
    bench.pass(Duration::from_secs(10));
    assert!(!holds(&bench.take(), chunk_type::ASCONF), "A5: T4 is stopped");
}

/// F1, F2: nothing but ASCONF leaves from a new address before the peer has acknowledged it; what arrives there is taken.
#[test]
fn a_new_address_is_no_source_before_it_is_acknowledged() {
    let (mut bench, mut mobile) = with_second_address(mesh());
    change(&mut bench, &[Add(node_address(2))]);
    let asconf = bench.take_only();
    // The peer has acknowledged and goes on at once, and that overtakes the acknowledgement.
    let data = mobile.data(0, 0, b"early");
    bench.deliver_on(between(2, 1), &mobile.packet(&[&Heartbeat { info: b"early" }, &data]));
    assert_eq!(bench.received(), [b"early"]);
    bench.pass(Duration::from_millis(500));
    let sent = bench.take();
    assert!(holds(&sent, chunk_type::HEARTBEAT_ACK) && holds(&sent, chunk_type::SACK), "{sent:?}");
    assert!(sent.iter().all(|sent| sent.route.local == node_address(1)), "{sent:?}");
    mobile.grant(&mut bench, &asconf);
    let probe = bench.take();
    assert!(probe.iter().any(|sent| sent.route == between(2, 1)), "{probe:?}");
}

/// F2, RFC 9260 §5.4: once acknowledged and confirmed, it is a path like others.
#[test]
fn an_acknowledged_address_becomes_a_path() {
    let (mut bench, mobile) = with_second_address(mesh());
    change(&mut bench, &[Add(node_address(2))]);
    let asconf = bench.take_only();
    assert_eq!(path(&bench, between(2, 1)), None);
    mobile.grant(&mut bench, &asconf);
    assert_eq!(state(&bench, between(2, 1)), PathState::Unconfirmed);
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(2, 1)), PathState::Active);
    let association = bench.association();
    let id = path(&bench, between(2, 1)).unwrap().id;
    bench.command(Command::SetPrimary { association, path: id });
    bench.send(0, b"from the new address");
    assert_eq!(bench.take_only().route, between(2, 1));
}

/// F4: an address being deleted still receives, but nothing leaves from it, and an ABORT that arrives there is ignored.
#[test]
fn an_address_being_deleted_receives_and_does_not_send() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 2, &[1, 2]);
    bench.send(0, b"in flight");
    assert_eq!(bench.take_only().route, between(1, 1));
    change(&mut bench, &[Delete(node_address(1).ip())]);
    let sent = bench.take();
    assert!(sent.iter().all(|sent| sent.route.local == node_address(2)), "F6: {sent:?}");
    assert!(holds(&sent, chunk_type::ASCONF));
    assert!(holds(&sent, chunk_type::DATA), "what was in flight goes out again elsewhere");
    let data = mobile.data(0, 0, b"still valid");
    bench.deliver_on(between(1, 1), &mobile.packet(&[&data, &Heartbeat { info: b"?" }]));
    assert_eq!(bench.received(), [b"still valid"]);
    let abort = whimbrel_wire::AbortBuilder { tag_reflected: false, causes: &[] };
    bench.deliver_on(between(1, 1), &mobile.packet(&[&abort]));
    let reflected = whimbrel_wire::AbortBuilder { tag_reflected: true, ..abort };
    bench.deliver_on(between(1, 1), &packet(mobile.auth.peer.header(mobile.auth.peer.tag), &[&reflected]));
    assert_eq!(bench.closed(), None, "RFC 5061 §5.3.1");
    bench.pass(Duration::from_millis(300));
    let answers = bench.take();
    assert!(holds(&answers, chunk_type::SACK));
    assert!(answers.iter().all(|sent| sent.route.local == node_address(2)), "{answers:?}");
    let asconf =
        sent.into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    mobile.grant(&mut bench, &asconf);
    assert_eq!(outcomes(&bench), [(Delete(node_address(1).ip()), Ok(()))]);
    assert!(bench.paths().iter().all(|path| path.route.local == node_address(2)));
    // Late packets are dropped without a word, an ABORT would end what goes on.
    let late = mobile.data(0, 1, b"late");
    bench.take();
    bench.deliver_on(between(1, 1), &mobile.packet(&[&late]));
    assert_eq!(bench.received().len(), 1);
    assert!(bench.take().is_empty());
}

/// F5: the last address stays; one that is down is as good as none.
#[test]
fn the_last_usable_address_is_not_given_up() {
    let (mut bench, mobile) = Mobile::connected_with(mesh(), 2, &[]);
    let (one, two) = (node_address(1).ip(), node_address(2).ip());
    change(&mut bench, &[Delete(one), Delete(two)]);
    assert_eq!(outcomes(&bench), [(Delete(two), Err(Error::LastAddress))]);
    let asconf =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    assert_eq!(mobile.read_asconf(&asconf).2.len(), 1);

    let (mut bench, _) = Mobile::connected_with(mesh(), 2, &[]);
    down(&mut bench, node_address(1));
    change(&mut bench, &[Delete(two)]);
    assert_eq!(outcomes(&bench), [(Delete(two), Err(Error::LastAddress))]);
}

/// Changes that make no sense are answered at once, and those around them go on.
#[test]
fn changes_that_make_no_sense_are_refused_at_once() {
    let (mut bench, mobile) = with_second_address(mesh());
    let (two, foreign) = (node_address(2), node_address(9));
    let multicast = "224.0.0.1:9899".parse().unwrap();
    let other_family = "[2001:db8::1]:9899".parse().unwrap();
    up(&mut bench, other_family);
    up(&mut bench, multicast);
    let wrong = [Add(foreign), Add(multicast), Add(other_family), Delete(two.ip()), SetPrimary(two.ip())];
    change(&mut bench, &wrong);
    let all = outcomes(&bench);
    assert_eq!(all, wrong.map(|change| (change, Err(Error::NotOurs))));
    assert!(bench.take().is_empty());
    change(&mut bench, &[Add(node_address(1))]);
    assert_eq!(outcomes(&bench).last(), Some(&(Add(node_address(1)), Ok(()))), "it is there already");
    assert!(bench.take().is_empty());
    change(&mut bench, &[SetPrimary(foreign.ip()), Add(two)]);
    let sent = bench.take_only();
    assert_eq!(mobile.read_asconf(&sent).2.len(), 1);
}

/// The queue is bounded: changes beyond the limit are refused at once.
#[test]
fn waiting_changes_are_bounded() {
    let mut config = mesh();
    config.dar.queue = 5;
    let (mut bench, mobile) = with_second_address(config);
    let one = SetPrimary(node_address(1).ip());
    change(&mut bench, &[one; 3]);
    let sent = bench.take_only();
    change(&mut bench, &[one; 1000]);
    assert_eq!(outcomes(&bench).len(), 998);
    assert!(outcomes(&bench).iter().all(|(_, outcome)| *outcome == Err(Error::QueueFull)));
    mobile.grant(&mut bench, &sent);
    let sent = bench.take_only();
    assert_eq!(mobile.read_asconf(&sent).2.len(), 2);
}

/// C5: a chunk stays small, and what does not fit goes into the next one.
#[test]
fn many_changes_take_several_chunks() {
    let (mut bench, mobile) = with_second_address(mesh());
    let one = SetPrimary(node_address(1).ip());
    change(&mut bench, &[one; 40]);
    for left in [16, 16, 8] {
        let sent = bench.take_only();
        assert!(sent.bytes.len() <= 576);
        assert_eq!(mobile.read_asconf(&sent).2.len(), left);
        mobile.grant(&mut bench, &sent);
    }
    assert_eq!(outcomes(&bench).len(), 40);
}

/// RFC 5061 §4.2.1: behind a NAT the address is left to the packet.
#[test]
fn wildcards_go_out_from_the_address_they_mean() {
    let (mut bench, mobile) = with_second_address(mesh());
    let anything = "0.0.0.0:0".parse().unwrap();
    change(&mut bench, &[Add(anything), SetPrimary(ip("0.0.0.0")), Delete(ip("0.0.0.0"))]);
    let sent = bench.take_only();
    assert_eq!(sent.route, between(2, 1));
    let (_, address, requests) = mobile.read_asconf(&sent);
    assert_eq!(address, node_address(1).ip(), "an address that the peer knows");
    assert!(requests.iter().all(|&(.., address)| address.is_unspecified()));
    bench.pass(Duration::from_millis(1001));
    let again = bench.take_only();
    assert_eq!(again.route, between(2, 1), "nor does a repetition come from elsewhere");
    mobile.grant(&mut bench, &again);
    assert_eq!(outcomes(&bench).len(), 3);
    assert!(outcomes(&bench).iter().all(|(_, outcome)| outcome.is_ok()));
    assert!(bench.paths().iter().all(|path| path.route.local == node_address(2)));
}

/// One path per destination: the new address takes over when the old one goes.
#[test]
fn with_one_path_per_destination_the_new_address_takes_over() {
    let (mut bench, mobile) = with_second_address(dynamic());
    change(&mut bench, &[Add(node_address(2))]);
    mobile.grant_next(&mut bench);
    assert_eq!(bench.paths().len(), 1);
    change(&mut bench, &[Delete(node_address(1).ip())]);
    mobile.settle(&mut bench);
    assert_eq!(state(&bench, between(2, 1)), PathState::Active);
}

/// What peers lack is said, and the association goes on with the addresses it has.
#[test]
fn without_the_extension_addresses_stay_as_they_are() {
    let check = |config: whimbrel_proto::Config, reason| {
        let (mut bench, peer) = Peer::connected(config);
        assert_eq!(mobility(&bench), Mobility::Static(reason));
        gain(&mut bench, node_address(2));
        assert_eq!(outcomes(&bench), [(Add(node_address(2)), Err(Error::Static(reason)))]);
        assert_alive(&mut bench, &peer);
    };
    check(mesh(), StaticReason::PeerLacksAuth);
    let mut off = mesh();
    off.dar.mode = DarMode::Off;
    check(off, StaticReason::SwitchedOff);
    let mut bench = Bench::new(mesh());
    let mut peer = crate::auth_peer::AuthPeer::new(&[]);
    peer.connect(&mut bench);
    assert_eq!(mobility(&bench), Mobility::Static(StaticReason::PeerLacksAsconf));
}

/// C4: not once SHUTDOWN ACK has been sent; before that, addresses may still change.
#[test]
fn addresses_may_change_until_the_shutdown_is_acknowledged() {
    let (mut bench, mobile) = with_second_address(mesh());
    bench.shutdown();
    bench.take();
    change(&mut bench, &[Add(node_address(2))]);
    assert!(holds(&bench.take(), chunk_type::ASCONF));
    let shutdown = whimbrel_wire::Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() };
    bench.deliver(&mobile.packet(&[&shutdown]));
    assert!(holds(&bench.take(), chunk_type::SHUTDOWN_ACK));
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Err(Error::ShuttingDown))]);
    bench.pass(Duration::from_secs(20));
    assert!(!holds(&bench.take(), chunk_type::ASCONF));
    change(&mut bench, &[Add(node_address(2))]);
    let last = outcomes(&bench).pop();
    assert!(matches!(last, Some((_, Err(Error::ShuttingDown | Error::Closed)))), "{last:?}");
}

/// An unknown association, and one that is not up yet.
#[test]
fn without_an_association_changes_are_refused() {
    let (mut bench, mobile) = with_second_address(mesh());
    let abort = whimbrel_wire::AbortBuilder { tag_reflected: false, causes: &[] };
    bench.deliver(&mobile.packet(&[&abort]));
    change(&mut bench, &[Add(node_address(2))]);
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Err(Error::Closed))]);
    assert!(bench.take().iter().all(|sent| !matches!(sent.only(), Chunk::Asconf(_))));
}

/// F4, F6: an address that is to be deleted and added again is not sent from before the deletion has been answered.
#[test]
fn deleting_and_adding_the_same_address_takes_two_chunks() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 2);
    let one = node_address(1);
    change(&mut bench, &[Delete(one.ip()), Add(one)]);
    let first = bench.take_only();
    assert_eq!(first.route.local, node_address(2), "not from the address that it deletes");
    let (_, _, requests) = mobile.read_asconf(&first);
    assert_eq!(requests.iter().map(|&(kind, ..)| kind).collect::<Vec<_>>(), [kind::DELETE_IP_ADDRESS]);
    bench.send(0, b"x");
    assert!(bench.take().iter().all(|sent| sent.route.local == node_address(2)));
    mobile.grant(&mut bench, &first);
    let second =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    let (_, _, requests) = mobile.read_asconf(&second);
    assert_eq!(requests.iter().map(|&(kind, ..)| kind).collect::<Vec<_>>(), [kind::ADD_IP_ADDRESS]);
    mobile.grant(&mut bench, &second);
    assert_eq!(outcomes(&bench), [(Delete(one.ip()), Ok(())), (Add(one), Ok(()))]);
}

/// RFC 5061 §5.3 F1: an address that comes up while an INIT is under way was not listed there, so the peer does not know it:
/// nothing leaves from it before it has been added.
#[test]
fn an_address_that_comes_up_during_the_handshake_is_not_known_to_the_peer() {
    let mut bench = Bench::with_addresses(mesh(), 1);
    let mut mobile = Mobile::new();
    bench.take();
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    bench.link(whimbrel_machine::LinkFact::AddressUp(node_address(2)));
    assert!(bench.take().iter().all(|sent| sent.route.local == node_address(1)));
    mobile.accept_init(&mut bench, &init);
    mobile.settle(&mut bench);
    bench.pass(Duration::from_secs(3));
    let sent = bench.take();
    assert!(sent.iter().all(|sent| sent.route.local == node_address(1)), "{sent:?}");
    change(&mut bench, &[Add(node_address(2))]);
    let sent =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).unwrap();
    mobile.grant(&mut bench, &sent);
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Ok(()))]);
}

/// The same for who is called: what came up after the INIT ACK was not listed there.
#[test]
fn an_address_that_comes_up_before_the_cookie_returns_is_not_known_to_the_peer() {
    let mut bench = Bench::with_addresses(mesh(), 1);
    let mut mobile = Mobile::new();
    mobile.begin(&mut bench, &[1]);
    bench.pass(Duration::from_millis(10));
    bench.link(whimbrel_machine::LinkFact::AddressUp(node_address(2)));
    bench.deliver(&mobile.cookie_echo());
    mobile.settle(&mut bench);
    bench.pass(Duration::from_secs(3));
    let sent = bench.take();
    assert!(sent.iter().all(|sent| sent.route.local == node_address(1)), "{sent:?}");
    change(&mut bench, &[Add(node_address(2))]);
    let sent = bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF));
    mobile.grant(&mut bench, &sent.unwrap());
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Ok(()))]);
}
