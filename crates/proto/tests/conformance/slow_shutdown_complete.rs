//! SHUTDOWN COMPLETE is overtaken by the ABORT that answers a stray packet (RFC 9260 §8.4, §9.2).

use core::time::Duration;
use whimbrel_proto::{CloseReason, Config, PmtuSearch};

use whimbrel_testbed::{Pair, User, link, remotes};

/// Whoever waits for SHUTDOWN COMPLETE, and learns instead that the peer has no association any more, has closed
/// gracefully. Path MTU probes and heartbeats under way when the association ends cause such answers.
#[test]
fn is_as_good_as_its_absence() {
    for second in 1..60 {
        let mut config = Config::mobile();
        config.heartbeat.interval = Some(Duration::from_millis(10));
        config.pmtu.search = PmtuSearch::Probe { raise_after: Duration::from_millis(1) };
        let mut client = User::client(&remotes(2)).queueing(3, 1_000);
        client.shutdown_when_done = true;
        let links = [link(1, 10), link(100, second)];
        let mut pair = Pair::new(u64::from(second as u32), config, &links, client, User::server());
        pair.run(60);
        for user in [pair.client(), pair.server()] {
            let ended = user.ended();
            assert_eq!(ended, Some(CloseReason::Shutdown), "delay {second} ms");
        }
    }
}
