//! A closed window (RFC 9260 §6.1 A) whose news takes a slower way than the data.

use core::time::Duration;

use whimbrel_proto::{AssociationFailure, Config};
use whimbrel_testbed::{Pair, User, link, remotes};

/// Several paths time out in turn, faster than the peer's answers come back. All of them are window probes.
#[test]
fn do_not_end_the_association() {
    for seed in 0..20 {
        let mut config = Config::mobile();
        config.limits.receive_buffer = 4096;
        config.rto.min = Duration::from_millis(20);
        config.heartbeat.interval = Some(Duration::from_millis(100));
        config.failure.association = AssociationFailure::Errors(8);
        let mut configs = [config.clone(), config];
        configs[1].limits.paths = 1;
        let user = User::client(&remotes(3)).queueing(2000, 20);
        let mut reader = User::server();
        reader.hold = true;
        // The server answers on its one path, the first.
        let links = [150, 1, 1].map(|back| [link(10, 1), link(10, back)]);
        let mut pair = Pair::with_configs(seed, configs, &links, user, reader);
        pair.run(120);
        assert!(!pair.client().closed() && !pair.server().closed(), "seed {seed}");
    }
}
