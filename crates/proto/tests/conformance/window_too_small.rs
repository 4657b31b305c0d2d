//! A user that does not read (RFC 9260 §6.1 A).

use core::time::Duration;

use whimbrel_proto::Config;

use whimbrel_testbed::{Pair, User, link, remotes};

/// The peer has some room left, but less than the chunk needs that is waiting to be acknowledged. It goes on answering,
/// so its silence about that chunk is no failure, however long it lasts.
#[test]
fn does_not_end_the_association() {
    for receive_buffer in (4096..12_000).step_by(256) {
        let mut config = Config::mobile();
        config.limits.receive_buffer = receive_buffer;
        config.rto.max = Duration::from_secs(1);
        let client = User::client(&remotes(1)).queueing(4, 40_000);
        let mut server = User::server();
        server.hold = true;
        let mut pair = Pair::new(3, config, &[link(10, 5)], client, server);
        pair.run(120);
        assert!(!pair.client().closed() && !pair.server().closed(), "{receive_buffer} bytes");
    }
}
