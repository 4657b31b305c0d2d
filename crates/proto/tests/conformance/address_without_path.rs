//! Packets from an address of the peer to which there is no path (RFC 9260 §8.4, §8.5).

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, Side};
use whimbrel_proto::{CloseReason, Config};
use whimbrel_testbed::{Pair, User, link, remotes};

/// The server keeps one path, the client two. When the client turns to the second, its data comes from an address
/// that the server knows from the INIT, and is accepted.
#[test]
fn are_accepted() {
    let mut few = Config::mobile();
    few.limits.paths = 1;
    let mut user = User::client(&remotes(2)).queueing(100, 20_000);
    user.shutdown_when_done = true;
    let mut pair =
        Pair::with_configs(1, [Config::mobile(), few], &[[link(10, 5); 2]; 2], user, User::server());
    // Only what the client sends is cut: acknowledgements by the server's one path still arrive.
    pair.change(0, Side::AtoB, Instant::from_nanos(500_000_000), Change::Down(InFlight::Lost));
    pair.run(60);
    let ended = pair.client().ended();
    assert_eq!(ended, Some(CloseReason::Shutdown));
    assert_eq!(pair.server().received.len(), 100);
}
