//! An INIT that arrives again after the association is up (RFC 9260 §5.2.2).

use core::time::Duration;

use whimbrel_netsim::{LinkConfig, Reorder};
use whimbrel_proto::{CloseReason, Config};
use whimbrel_wire::Parameter;

use whimbrel_testbed::peer::{Peer, assert_alive, ip, quiet, route};
use whimbrel_testbed::{Pair, User, link, remotes};

/// The same INIT names the same addresses. That the server made no path to some of them, here because it keeps one
/// path only, does not make them new: to refuse the INIT as a restart with new addresses would abort the association.
#[test]
fn names_no_new_addresses() {
    let mut config = Config::rfc();
    config.limits.paths = 1;
    let late = Reorder { probability: 0.5, extra: Duration::from_millis(400) };
    let twice = LinkConfig { duplicate: 1.0, reorder: late, ..link(10, 5) };
    for seed in 0..20 {
        let mut client = User::client(&remotes(2)).queueing(50, 10_000);
        client.shutdown_when_done = true;
        let mut pair = Pair::new(seed, config.clone(), &[twice, twice], client, User::server());
        pair.run(200);
        let ended = pair.client().ended();
        assert_eq!(ended, Some(CloseReason::Shutdown), "seed {seed}");
    }
}

/// A host that moves while it sets up an association repeats its INIT from a new address. One that comes when the association is up is no restart, and
/// an ABORT with its tag would end what it has asked for.
#[test]
fn from_a_new_address_does_no_harm() {
    let (mut bench, peer) = Peer::connected(quiet());
    let mut moved = route();
    moved.remote.set_ip(ip("203.0.113.5"));
    bench.deliver_on(moved, &peer.init(&[Parameter::from(ip("10.0.1.2"))]));
    assert!(bench.take().is_empty());
    assert_alive(&mut bench, &peer);
}
