//! What counts against the peer and what against a path (RFC 9260 §8.1, §8.2, §8.3, §11.2.3).

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_proto::{CloseReason, Config, PathState};

use whimbrel_testbed::peer::{Bench, Peer, Sent, ip, peer_address, quiet};

const OTHER: &str = "10.0.2.2";

fn config() -> Config {
    let mut config = quiet();
    config.heartbeat.interval = Some(Duration::from_millis(300));
    config.failure.association = whimbrel_proto::AssociationFailure::Errors(3);
    config.failure.path_max_retrans = 2;
    config
}

/// Answers the HEARTBEATs among `sent` that went to `address`.
fn answer(bench: &mut Bench, peer: &Peer, sent: &[Sent], address: IpAddr) {
    for one in sent.iter().filter(|sent| sent.route.remote.ip() == address) {
        peer.answer_heartbeats(bench, one);
    }
}

/// Lets `seconds` pass while the peer answers the HEARTBEATs to `address` and nothing else.
fn answering(bench: &mut Bench, peer: &Peer, address: IpAddr, seconds: u64) {
    for _ in 0..seconds * 50 {
        bench.pass(Duration::from_millis(20));
        let sent = bench.take();
        answer(bench, peer, &sent, address);
        if bench.closed().is_some() {
            return;
        }
    }
}

/// RFC 9260 §8.1: HEARTBEAT ACKs do not clear the association's counter while DATA is outstanding, so a peer that answers
/// HEARTBEATs but never acknowledges DATA is given up.
#[test]
fn answered_heartbeats_do_not_make_up_for_unacknowledged_data() {
    let (mut bench, peer) = Peer::connected(config());
    bench.send(0, b"nobody acknowledges this");
    answering(&mut bench, &peer, peer_address(1).ip(), 60);
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
}

/// RFC 9260 §8.1, §8.3: without outstanding DATA they do.
#[test]
fn answered_heartbeats_keep_an_idle_association_alive() {
    let (mut bench, peer) = Peer::connected(config());
    for _ in 0..10 {
        // Two in a row are missed each time.
        let before = bench.now;
        while bench.now < before + Duration::from_secs(4) {
            bench.pass(Duration::from_millis(100));
            bench.take();
        }
        answering(&mut bench, &peer, peer_address(1).ip(), 20);
        assert_eq!(bench.closed(), None);
    }
}

/// RFC 9260 §8.1: on the path in use they count against the association.
#[test]
fn an_idle_peer_that_falls_silent_is_given_up() {
    let (mut bench, _peer) = Peer::connected(config());
    bench.pass(Duration::from_secs(120));
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
}

/// RFC 9260 §8.1, §8.2: HEARTBEATs that are not answered on another path make that path inactive, and say nothing about
/// the association.
#[test]
fn a_dead_standby_path_does_not_end_the_association() {
    let mut bench = Bench::with_addresses(config(), 2);
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[peer_address(1).ip(), ip(OTHER)]);
    // A quarter of the RTO is left to the peer to probe first.
    bench.pass(Duration::from_millis(300));
    let sent = bench.take();
    answer(&mut bench, &peer, &sent, ip(OTHER));
    let state =
        |bench: &Bench| bench.paths().iter().find(|path| path.route.remote.ip() == ip(OTHER)).unwrap().state;
    assert_eq!(state(&bench), PathState::Active);
    answering(&mut bench, &peer, peer_address(1).ip(), 600);
    assert_eq!(bench.closed(), None);
    assert_eq!(state(&bench), PathState::Inactive);
    answering(&mut bench, &peer, ip(OTHER), 5);
}

/// RFC 9260 §8.1, §8.2: acknowledged DATA clears the counter of the association and that of its path.
#[test]
fn acknowledged_data_clears_the_counters() {
    let mut config = config();
    config.heartbeat.interval = None;
    let (mut bench, peer) = Peer::connected(config);
    for n in 0..4 {
        bench.send(0, b"acknowledged at the third attempt");
        while bench.paths()[0].error_count < 2 {
            assert!(bench.pass_to_deadline());
        }
        bench.deliver(&peer.sack(peer.node_tsn.plus(n), 100_000));
        assert_eq!((bench.closed(), bench.paths()[0].error_count), (None, 0));
    }
}
