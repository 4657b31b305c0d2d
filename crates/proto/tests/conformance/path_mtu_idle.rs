//! The path MTU search (RFC 8899) waits for data.

use whimbrel_proto::{Config, PathState};

use whimbrel_testbed::{CLIENT, Pair, User, link, remotes};

/// Packet sizes of the sender's usable paths, two seconds after it sent `messages` small messages.
fn packet_sizes(messages: usize) -> Vec<usize> {
    let client = User::client(&remotes(2)).queueing(messages, 10);
    let mut pair = Pair::new(1, Config::mobile(), &[link(10, 5), link(10, 5)], client, User::server());
    pair.run(2);
    let paths = pair.paths(CLIENT);
    paths.iter().filter(|path| path.state == PathState::Active).map(|path| path.packet_size).collect()
}

/// Most packets of an association that only exists would be probes: RFC 8899 §4.3 allows to wait.
#[test]
fn an_association_without_data_does_not_probe() {
    assert_eq!(packet_sizes(0), [1200, 1200]);
}

/// Chunks are cut for the smallest path (RFC 9260 §7.3), so the first data starts the search on the standby path too.
#[test]
fn the_first_data_starts_the_search_on_every_path() {
    assert_eq!(packet_sizes(1), [1452, 1452]);
}
