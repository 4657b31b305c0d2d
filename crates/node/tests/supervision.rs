//! Paths are confirmed and supervised without any data.

mod common;

use common::{Pair, User, link, remotes};
use whimbrel_machine::Instant;
use whimbrel_proto::{Config, PathState};

#[test]
fn an_idle_association_confirms_its_paths() {
    let mut pair = Pair::new(
        3,
        Config::mobile(),
        &[link(10, 5), link(10, 20)],
        User::client(&remotes(2)),
        User::server(),
    );
    pair.world.run_until(Instant::from_nanos(1_000_000_000));
    for (host, user) in [(pair.client, pair.client()), (pair.server, pair.server())] {
        let paths = pair.world.machine(host).paths(user.association.unwrap());
        let active: Vec<_> = paths.iter().filter(|p| p.state == PathState::Active).map(|p| p.route).collect();
        assert_eq!(active.len(), 2, "{paths:#?}");
        assert!(
            active
                .iter()
                .all(|route| route.local.ip().to_string()[..6] == route.remote.ip().to_string()[..6])
        );
    }
}
