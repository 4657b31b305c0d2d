//! Heartbeats on demand (RFC 9260 §8.3, §11.1.10).

use whimbrel_machine::Instant;
use whimbrel_netsim::Action;
use whimbrel_proto::{Command, Config, PathState};

use whimbrel_testbed::{CLIENT, Pair, User, link, remotes};

/// A user that asks for heartbeats more often than the RTO must not keep a dead path alive: each request would put off
/// the moment when the answer to the one before is missed.
#[test]
fn do_not_hide_that_a_path_is_dead() {
    let mut pair =
        Pair::new(1, Config::rfc(), &[link(10, 5), link(10, 5)], User::client(&remotes(2)), User::server());
    pair.run(2);
    let association = pair.client().association().unwrap();
    let paths = pair.world.machine(pair.client).paths(association);
    let path = paths
        .iter()
        .find(|path| path.route.local.ip() == whimbrel_testbed::address(CLIENT, 1).ip())
        .unwrap()
        .id;
    pair.cut(1, Instant::from_nanos(2_000_000_000));
    for n in 0..3000 {
        let at = Instant::from_nanos(2_000_000_000 + n * 100_000_000);
        let request = Command::RequestHeartbeat { association, path };
        pair.world.schedule(at, Action::Command(pair.client, request));
    }
    pair.run(302);
    let paths = pair.world.machine(pair.client).paths(association);
    assert_eq!(paths.iter().find(|p| p.id == path).unwrap().state, PathState::Inactive);
}
