//! SHUTDOWN finds the path that works, whatever else has failed.

use core::time::Duration;

use whimbrel_netsim::{Action, LinkConfig};
use whimbrel_proto::{CloseReason, Command, Config, PathPairing, PathState};
use whimbrel_testbed::{CLIENT, Pair, User, remotes};

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
