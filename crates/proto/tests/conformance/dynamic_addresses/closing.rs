//! Who has moved while an association ends.

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{CloseReason, PathState, PeerRequests};
use whimbrel_wire::{Shutdown, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// RFC 9260 §8.3: HEARTBEATs end once SHUTDOWN ACK has been sent. The answer to the only one to where the peer has moved was lost: SHUTDOWN
/// ACK has no confirmed way (§5.4) until another one is answered.
#[test]
fn a_way_for_shutdown_ack_is_looked_for_until_there_is_one() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let (old, new) = (peer_address(1).ip(), peer_address(2).ip());
    let packet = mobile.asconf(&[add(0, new), delete(1, old), set_primary(2, new)]);
    bench.deliver_on(between(1, 2), &packet);
    assert!(holds(&bench.take(), chunk_type::HEARTBEAT));
    let shutdown = Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() };
    bench.deliver_on(between(1, 2), &mobile.packet(&[&shutdown]));
    assert!(!holds(&bench.take(), chunk_type::SHUTDOWN_ACK), "not to an address that is not confirmed");
    bench.pass(Duration::from_secs(5));
    let sent = bench.take();
    assert!(holds(&sent, chunk_type::HEARTBEAT), "{sent:?}");
    assert_eq!(state(&bench, between(1, 2)), PathState::Unconfirmed);
    let answer = whimbrel_wire::HeartbeatAck { info: sent.iter().flat_map(Sent::heartbeats).last().unwrap() };
    bench.deliver_on(between(1, 2), &mobile.packet(&[&answer]));
    let sent = bench.take();
    assert!(holds(&sent, chunk_type::SHUTDOWN_ACK), "{sent:?}");
    bench.pass(Duration::from_secs(5));
    assert!(!holds(&bench.take(), chunk_type::HEARTBEAT), "it has been sent");
}

/// RFC 9260 §9.2, §6.4: DATA that comes in SHUTDOWN-SENT is answered to where it came from. T2-shutdown, which would have another
/// path tried, begins anew with each, so that a peer whose other addresses are dead would have no answer for ever.
#[test]
fn data_behind_a_shutdown_is_answered_where_it_came_from() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 1, &[1, 2]);
    bench.pass(Duration::from_secs(1));
    mobile.settle(&mut bench);
    bench.shutdown();
    let to = |sent: &[Sent]| {
        let shutdowns = sent.iter().filter(|sent| holds(core::slice::from_ref(sent), chunk_type::SHUTDOWN));
        shutdowns.map(|sent| sent.route).collect::<Vec<_>>()
    };
    assert_eq!(to(&bench.take()), [between(1, 1)]);
    for n in 0..10 {
        let data = mobile.data(0, n, b"still to be sent");
        bench.deliver_on(between(1, 2), &mobile.packet(&[&data]));
        assert_eq!(to(&bench.take()), [between(1, 2)]);
        bench.pass(Duration::from_millis(500));
    }
}

/// RFC 5061 §5.2 E2, E5: an old serial number changes nothing; `PeerRequests::RefuseWildcards`: the source address is not authenticated.
#[test]
fn a_repeated_asconf_adds_no_source_address_in_shutdown_ack_sent() {
    let mut config = mesh();
    config.dar.peer_requests = PeerRequests::RefuseWildcards;
    let (mut bench, mut mobile) = Mobile::connected(config, 1);
    let recorded = mobile.asconf(&[add(0, peer_address(2).ip())]);
    bench.deliver(&recorded);
    mobile.settle(&mut bench);
    bench.deliver(&mobile.packet(&[&Shutdown { cumulative_tsn_ack: mobile.node_tsn.prev() }]));
    bench.take();
    bench.deliver_on(between(1, 66), &recorded);
    let to: Vec<Route> = bench.take().iter().map(|sent| sent.route).collect();
    let added = news(&bench).iter().any(|(ip, _)| *ip == peer_address(66).ip());
    assert!(!added && to.is_empty(), "{:?}, {to:?}", news(&bench));
}

/// Whoever has lost every address that the peer knows repeats SHUTDOWN ACK from a new one, ever more rarely. Who cannot tell the peer of it at all
/// says nothing from there.
#[test]
fn shutdown_ack_backs_off_from_a_new_address_too() {
    for (config, most) in [(quiet(), 0), (mesh(), 30)] {
        let dynamic = most > 0;
        let (mut bench, peer) = if dynamic {
            let (bench, mobile) = Mobile::connected(config, 1);
            (bench, mobile.auth.peer)
        } else {
            Peer::connected(config)
        };
        bench.deliver(&peer.packet(&[&Shutdown { cumulative_tsn_ack: peer.node_tsn.prev() }]));
        swap(&mut bench, node_address(1), node_address(2));
        bench.take();
        bench.pass(Duration::from_secs(1000));
        let sent = bench.take();
        let sent = sent.iter().filter(|sent| holds(&[(*sent).clone()], chunk_type::SHUTDOWN_ACK)).count();
        assert!(sent <= most && (sent > 5) == dynamic, "{sent}");
    }
}

/// RFC 9260 §8.1: a peer that has deleted its only address that was confirmed, and answers nothing at the other one, is given up as any other.
#[test]
fn a_silent_peer_is_given_up_where_no_address_is_confirmed() {
    let mut config = mesh();
    config.heartbeat.interval = Some(Duration::from_secs(30));
    let (mut bench, mut mobile) = Mobile::connected(config, 1);
    bench.deliver(&mobile.asconf(&[add(7, peer_address(2).ip())]));
    bench.deliver_on(between(1, 2), &mobile.asconf(&[delete(8, peer_address(1).ip())]));
    assert_eq!(remotes(&bench), [peer_address(2).ip()]);
    assert_eq!(state(&bench, between(1, 2)), PathState::Unconfirmed);
    bench.send(0, b"nobody is there");
    bench.pass(Duration::from_secs(3600));
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
}
