//! Packets with a zero checksum that belong to no association (RFC 9653 §5.3).

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::Action;
use whimbrel_node::Node;
use whimbrel_proto::{ChecksumPolicy, CloseReason, Config, Event};

use whimbrel_testbed::{Pair, SERVER, User, link, remotes};

/// The server loses its memory. Its answer to the client's next packet, which carries no checksum, tells the client so
/// at once; without it the client would need Association.Max.Retrans timeouts to find out.
#[test]
fn are_answered() {
    let config = Config { checksum: ChecksumPolicy::ZeroAcceptable { edmid: 1 }, ..Config::mobile() };
    let client = User::client(&remotes(1)).queueing(200, 20_000);
    let mut pair = Pair::new(1, config.clone(), &[link(10, 5)], client, User::server());
    let fresh = Node::new(config.into(), Seed::from_u64(2), vec![whimbrel_testbed::address(SERVER, 0)]);
    let restart = Action::Restart(pair.server, Box::new((fresh, User::server())));
    pair.world.schedule(Instant::from_nanos(500_000_000), restart);
    pair.run(2);
    assert!(pair.client().events.iter().any(|(_, event)| {
        matches!(event, Event::Closed { reason: CloseReason::AbortedByPeer { .. }, .. })
    }));
}
