//! A user that asks for a shutdown before it reads what the peer has to say (RFC 9260 §9.2).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::Action;
use whimbrel_proto::{CloseReason, Command, Config};

use whimbrel_testbed::{Pair, User, link, remotes};

fn shutdown_before_reading(heartbeats: Option<Duration>) {
    let mut config = Config::mobile();
    config.limits.receive_buffer = 50_000;
    config.failure.association = whimbrel_proto::AssociationFailure::Errors(3);
    config.rto.max = Duration::from_secs(60);
    config.heartbeat.interval = heartbeats;
    let client = User::client(&remotes(5)).queueing(8, 30_000);
    // SHUTDOWN is tried on one path after the other, the fast ones long before the peer probes the window again.
    let links = [link(10, 300), link(10, 1), link(10, 1), link(10, 1), link(10, 1)];
    let mut server = User::server();
    server.hold = true;
    let mut pair = Pair::new(1, config, &links, client, server);
    pair.run(10);
    let association = pair.server().association().unwrap();
    pair.world.act(Action::Command(pair.server, Command::Shutdown { association }));
    pair.run(100);
    assert!(!pair.client().closed() && !pair.server().closed());
    for n in 0..1500 {
        let release = Command::Release { association, bytes: 50_000 };
        let at = Instant::from_nanos(100_000_000_000 + n * 100_000_000);
        pair.world.schedule(at, Action::Command(pair.server, release));
    }
    pair.run(290);
    let bytes: usize = pair.server().received.iter().map(|(_, received)| received.payload.len()).sum();
    assert_eq!(bytes, 240_000);
    for user in [pair.client(), pair.server()] {
        let ended = user.ended();
        assert_eq!(ended, Some(CloseReason::Shutdown));
    }
}

/// The peer has data left and no window for it, so it cannot answer SHUTDOWN. That is no reason to give it up.
#[test]
fn waits_until_there_is_room() {
    shutdown_before_reading(None);
}

/// RFC 9260 §8.3: nor may the peer think its paths dead meanwhile.
#[test]
fn goes_on_answering_heartbeats() {
    shutdown_before_reading(Some(Duration::from_secs(1)));
}
