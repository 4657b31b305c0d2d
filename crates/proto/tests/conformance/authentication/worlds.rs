//! Two nodes that require of each other what can be required, over lossy links.

use whimbrel_netsim::{LinkConfig, Loss};
use whimbrel_proto::{AuthConfig, CloseReason, Config, Event, HmacAlgorithm, SharedKeys, SharedSecret};
use whimbrel_wire::chunk_type;

use whimbrel_testbed::{Memory, Pair, User, link, message, remotes};

/// Every type this implementation sends, but for those that cannot be authenticated.
const ALL: [u8; 11] = [
    chunk_type::DATA,
    chunk_type::SACK,
    chunk_type::HEARTBEAT,
    chunk_type::HEARTBEAT_ACK,
    chunk_type::ABORT,
    chunk_type::SHUTDOWN,
    chunk_type::SHUTDOWN_ACK,
    chunk_type::ERROR,
    chunk_type::COOKIE_ECHO,
    chunk_type::COOKIE_ACK,
    chunk_type::PAD,
];

fn config(required: &[u8]) -> Config {
    let mut config = Config::mobile();
    config.auth = AuthConfig::offered();
    config.auth.keys = SharedKeys::new(1, SharedSecret::new(*b"secret"));
    config.auth.required = required.to_vec();
    config
}

fn transfer(config: Config, links: &[LinkConfig], bytes: usize) -> Pair {
    let mut client = User::client(&remotes(links.len()));
    client.outbox = (0..200).map(|n| message((n % 4) as u16, n, bytes)).collect();
    client.shutdown_when_done = true;
    Pair::new(7, config, links, client, User::server())
}

#[track_caller]
fn assert_complete(pair: &Pair, bytes: usize) {
    let received: usize = pair.server().received.iter().map(|(_, received)| received.payload.len()).sum();
    assert_eq!((pair.server().received.len(), received), (200, 200 * bytes));
    for user in [pair.client(), pair.server()] {
        let reason = user.ended();
        assert_eq!(reason, Some(CloseReason::Shutdown));
    }
}

fn lossy(loss: f64) -> LinkConfig {
    LinkConfig { loss: Loss::Bernoulli(loss), ..link(20, 10) }
}

/// The handshake, the search for the path MTU, retransmissions, SACK with gaps, the shutdown: nothing goes out bare,
/// and all of it is found genuine.
#[test]
fn a_transfer_with_everything_authenticated() {
    for sha1 in [false, true] {
        let mut config = config(&ALL);
        if sha1 {
            config.auth.algorithms = vec![HmacAlgorithm::Sha1];
        }
        for bytes in [10, 1380, 20_000] {
            let mut pair = transfer(config.clone(), &[lossy(0.05), lossy(0.05)], bytes);
            let capture = Memory::default();
            let links = [(pair.link(0), "one"), (pair.link(1), "two")];
            pair.world.capture(&links, capture.clone()).unwrap();
            pair.run(600);
            pair.world.finish().unwrap();
            assert_complete(&pair, bytes);
            let mut packets = capture.sctp_packets();
            packets.retain(|types| !types.iter().any(|t| [1, 2, 14].contains(t)));
            assert!(packets.len() > 10, "{packets:?}");
            assert!(
                packets.iter().all(|types| types[0] == chunk_type::AUTH && types.len() > 1),
                "{packets:?}"
            );
        }
    }
}

/// Only one type at a time: room is measured rightly wherever AUTH comes to stand.
#[test]
fn a_transfer_with_each_type_authenticated_alone() {
    for chunk_type in ALL {
        let mut pair = transfer(config(&[chunk_type]), &[lossy(0.03)], 3000);
        pair.run(600);
        assert_complete(&pair, 3000);
    }
}

/// Different keys: each side looks dead to the other.
#[test]
fn without_the_same_key_there_is_no_association() {
    let mut other = config(&ALL);
    other.auth.keys = SharedKeys::new(1, SharedSecret::new(*b"another"));
    let (client, server) = (User::client(&remotes(1)), User::server());
    let mut pair = Pair::with_configs(7, [config(&ALL), other], &[[link(20, 10); 2]], client, server);
    pair.run(600);
    let failed = |(_, event): &(_, Event)| matches!(event, Event::ConnectFailed { .. });
    assert!(pair.client().events.iter().any(failed), "{:?}", pair.client().events);
    assert!(pair.server().events.is_empty());
}
