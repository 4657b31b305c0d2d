//! SHUTDOWN finds the path that works, whatever else has failed.

use core::time::Duration;

use whimbrel_netsim::{Action, LinkConfig, Side};
use whimbrel_proto::{CloseReason, Command, Config, PathPairing, PathState, PathView};
use whimbrel_testbed::{CLIENT, Pair, SERVER, User, address, link, remotes};

/// RFC 9260 §6.4, §9.2: both paths have failed, one comes back, and it need not be the one in use. How many errors each
/// has by then depends on how long that took.
#[test]
fn shutdown_finds_the_path_that_works() {
    let mobile = Config { pairing: PathPairing::PerDestination, ..Config::mobile() };
    for config in [Config::rfc(), mobile] {
        for (alive, seconds) in [0, 1].into_iter().flat_map(|alive| (0..60).map(move |s| (alive, s))) {
            closes(config.clone(), alive, Duration::from_secs(seconds));
        }
    }
}

fn closes(config: Config, alive: usize, later: Duration) {
    let limit = config.rto.max * 5;
    let links = [LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() }; 2];
    let mut pair = Pair::new(1, config, &links, User::client(&remotes(2)), User::server());
    pair.run(5);
    assert_eq!(pair.paths(CLIENT).len(), 2);
    // Until the client has given both paths up, but not yet the association.
    let now = pair.world.now();
    (0..2).for_each(|network| pair.cut(network, now));
    while !pair.paths(CLIENT).iter().all(|path| path.state == PathState::Inactive) {
        assert_eq!(pair.client().ended(), None);
        pair.world.run_for(Duration::from_secs(1));
    }
    pair.world.run_for(later);
    if pair.client().closed() {
        return;
    }
    pair.heal(alive, pair.world.now());
    let association = pair.client().association().expect("up");
    pair.world.act(Action::Command(pair.client, Command::Shutdown { association }));
    pair.world.run_for(limit);
    assert_eq!(pair.client().ended(), Some(CloseReason::Shutdown), "network {alive} {later:?} later");
}

/// RFC 9260 §8.3, §6.4: who has sent SHUTDOWN asks no path any more, and what it knows of them is of the past. What the peer still sends is acknowledged to
/// where it comes from, also if that path had failed before, and the one in use has not as far as anybody has noticed.
#[test]
fn after_shutdown_data_is_acknowledged_to_where_it_comes_from() {
    let client = User::client(&remotes(2)).queueing(10_000, 1000);
    let mut pair = Pair::new(1, Config::mobile(), &[link(1, 10); 2], client, User::server());
    pair.run(1);
    pair.cut(0, pair.world.now());
    let state = |pair: &Pair, n: usize| {
        let is_it = |path: &&PathView| {
            path.route.local == address(SERVER, n) && path.route.remote == address(CLIENT, n)
        };
        pair.paths(SERVER).iter().find(is_it).map(|path| path.state)
    };
    while state(&pair, 0) != Some(PathState::Inactive) {
        pair.world.run_for(Duration::from_secs(1));
    }
    assert_eq!(state(&pair, 1), Some(PathState::Active));
    let association = pair.server().association().expect("up");
    pair.world.act(Action::Command(pair.server, Command::Shutdown { association }));
    pair.world.run_for(Duration::from_millis(100));
    pair.cut(1, pair.world.now());
    pair.heal(0, pair.world.now());
    pair.run(5);
    let sent = |pair: &Pair| pair.world.stats(pair.link(1), Side::BtoA).offered_packets;
    let (before, received) = (sent(&pair), pair.server().received.len());
    pair.run(5);
    let (astray, received) = (sent(&pair) - before, pair.server().received.len() - received);
    assert!(
        received > 300 && astray < 20,
        "{received} messages came, {astray} packets went where the client was"
    );
    pair.run(100);
    assert_eq!(pair.client().ended(), Some(CloseReason::Shutdown));
}
