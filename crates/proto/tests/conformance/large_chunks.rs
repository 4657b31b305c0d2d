//! Chunks that are large compared with the receive buffer (RFC 9260 §6.9).

use whimbrel_netsim::LinkConfig;
use whimbrel_proto::{Config, PmtuSearch};

use whimbrel_testbed::{Pair, User, link, message, remotes};

/// A message of several chunks, of which the second does not fit beside the first: the user is given the first, or
/// the two hosts would wait for each other for ever.
#[test]
fn do_not_block_the_receiver() {
    let jumbo = LinkConfig { mtu: 9000, ..link(10, 5) };
    for receive_buffer in (8192..14_000).step_by(256) {
        let mut config = Config::mobile();
        config.pmtu.max = 8952;
        config.pmtu.search = PmtuSearch::Off;
        config.limits.receive_buffer = receive_buffer;
        let mut client = User::client(&remotes(1));
        // What the first message leaves of the packet carries the beginning of the second.
        client.outbox = [message(0, 0, 6500), message(0, 1, 50_000)].into();
        client.shutdown_when_done = true;
        let mut pair = Pair::new(1, config, &[jumbo], client, User::server());
        pair.run(300);
        let bytes: usize = pair.server().received.iter().map(|(_, received)| received.payload.len()).sum();
        assert_eq!(bytes, 56_500, "{receive_buffer} bytes of buffer");
        assert!(pair.client().closed() && pair.server().closed());
    }
}
