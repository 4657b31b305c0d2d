//! The path MTU search (RFC 8899) and the failure of the path it searches.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Config, PmtuSearch};

use whimbrel_testbed::{CLIENT, Pair, User, link, remotes};

/// The search rests while the path is not active. It must not wake the endpoint over and over meanwhile, and must go
/// on when the path is back.
#[test]
fn search_rests_while_the_path_is_dead() {
    let mut config = Config::mobile();
    config.pmtu.search = PmtuSearch::Probe { raise_after: Duration::from_millis(300) };
    let client = User::client(&remotes(2)).queueing(200, 20_000);
    let mut pair = Pair::new(1, config, &[link(2, 5), link(2, 5)], client, User::server());
    pair.cut(0, Instant::from_nanos(100_000_000));
    pair.heal(0, Instant::from_nanos(5_000_000_000));
    pair.run(20);
    let paths = pair.paths(CLIENT);
    assert!(
        paths
            .iter()
            .filter(|path| path.route.local.ip() == whimbrel_testbed::address(CLIENT, 0).ip())
            .any(|path| { path.packet_size == 1452 })
    );
}
