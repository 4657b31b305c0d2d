//! What heartbeats decide where they are on, and what decides where they are off (RFC 7829 §3.2 rules 5, 6 and 10).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Command, Config, PathState};
use whimbrel_wire::HeartbeatAck;

use whimbrel_testbed::peer::{Bench, Peer, Sent, quiet};
use whimbrel_testbed::{CLIENT, Pair, User, link, remotes};

/// An association whose only path has just become potentially failed: three chunks are lost, the first of which has been sent
/// again. And what was sent at that moment.
fn failed(interval: Option<Duration>) -> (Bench, Peer, Vec<Sent>) {
    let mut config = quiet();
    config.heartbeat.interval = interval;
    config.failure.potentially_failed_max_retrans = Some(0);
    let (mut bench, peer) = Peer::connected(config);
    for n in 0..3 {
        bench.send(0, &[n; 1000]);
    }
    assert_eq!(bench.take().len(), 3);
    bench.pass(Duration::from_millis(1001));
    assert_eq!(state(&bench), PathState::PotentiallyFailed);
    let sent = bench.take();
    assert_eq!(sent.iter().map(|sent| sent.data().len()).sum::<usize>(), 1);
    (bench, peer, sent)
}

fn state(bench: &Bench) -> PathState {
    bench.paths()[0].state
}

fn heartbeats(sent: &[Sent]) -> Vec<Vec<u8>> {
    sent.iter().flat_map(Sent::heartbeats).map(<[u8]>::to_vec).collect()
}

/// Acknowledges the second and the third chunk, which were sent once and have timed out.
fn acknowledge_late(bench: &mut Bench, peer: &Peer) {
    bench.deliver(&peer.sack_with(peer.node_tsn.prev(), 100_000, &[(2, 3)]));
}

/// Rule 6: a HEARTBEAT goes out when the path becomes potentially failed, and its answer decides, not what has come before.
#[test]
fn a_path_that_has_failed_is_brought_back_by_its_heartbeat() {
    let (mut bench, peer, sent) = failed(Some(Duration::from_secs(30)));
    let [info] = &heartbeats(&sent)[..] else { panic!("{sent:?}") };
    acknowledge_late(&mut bench, &peer);
    assert_eq!(state(&bench), PathState::PotentiallyFailed);
    bench.deliver(&peer.packet(&[&HeartbeatAck { info }]));
    assert_eq!(state(&bench), PathState::Active);
}

/// Rule 5: where heartbeats are off, none is sent to a potentially failed path, nor to one that has failed altogether, even
/// when the peer is heard there. Rule 10: data that was acknowledged late brings it back then.
#[test]
fn without_heartbeats_none_is_sent_and_a_late_acknowledgement_is_enough() {
    let (mut bench, peer, sent) = failed(None);
    assert_eq!(heartbeats(&sent).len(), 0);
    let mut other = peer.clone();
    for n in 0..80 {
        bench.pass(Duration::from_secs(1));
        let chunk = other.data(0, n, b"heard");
        bench.deliver(&other.packet(&[&chunk]));
    }
    assert_eq!(heartbeats(&bench.take()).len(), 0);
    assert_eq!(state(&bench), PathState::Inactive);
    let (mut bench, peer, _) = failed(None);
    acknowledge_late(&mut bench, &peer);
    assert_eq!(state(&bench), PathState::Active);
    assert_eq!(bench.paths()[0].error_count, 0);
}

/// Rule 5 again: a HEARTBEAT that the user asks for remains the only one, though nobody answers it.
#[test]
fn a_requested_heartbeat_that_is_lost_is_not_repeated() {
    let (mut bench, _, _) = failed(None);
    let (association, path) = (bench.association(), bench.paths()[0].id);
    bench.command(Command::RequestHeartbeat { association, path });
    bench.pass(Duration::from_secs(10));
    assert_eq!(state(&bench), PathState::PotentiallyFailed);
    assert_eq!(heartbeats(&bench.take()).len(), 1);
}

/// RFC 9260 §8.2: a dead primary path is found by T3-rtx. A probe for the tail would take what that guards to another path, and nothing would ask
/// for the first one.
#[test]
fn a_dead_primary_path_is_left() {
    let mut config = Config::mobile();
    config.heartbeat.interval = None;
    let mut client = User::client(&remotes(2));
    client.tick(Duration::from_millis(100), 300, 200);
    let mut pair = Pair::new(1, config, &[link(20, 10), link(20, 10)], client, User::server());
    pair.cut(0, Instant::from_nanos(5_000_000_000));
    pair.run(15);
    let paths = pair.paths(CLIENT);
    let dead = paths.iter().find(|path| path.primary).unwrap();
    assert!(dead.state != PathState::Active && !dead.in_use, "{paths:?}");
    assert!(dead.counters.data_sent < 70, "{} chunks", dead.counters.data_sent);
}
