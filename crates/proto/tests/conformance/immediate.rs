//! When the sender asks for a SACK at once (RFC 9260 §6.1, RFC 7053 §5.1).

use core::time::Duration;

use whimbrel_proto::{Acknowledge, Command, Config, Message, SackConfig, SackRequests, StreamId};
use whimbrel_testbed::peer::{Peer, Sent, quiet};

fn bits(sent: &[Sent]) -> Vec<bool> {
    sent.iter().flat_map(|sent| sent.data()).map(|data| data.immediate).collect()
}

/// RFC 7053 §5.1: a retransmission after T3-rtx, whose SACK ends the waiting.
#[test]
fn after_a_timeout() {
    let (mut bench, _) = Peer::connected(quiet());
    bench.send(0, b"lost");
    assert_eq!(bits(&bench.take()), [false]);
    bench.pass(Duration::from_secs(1));
    assert_eq!(bits(&bench.take()), [true]);
}

/// RFC 7053 §5.1: the chunk that fills cwnd, and the last one before SHUTDOWN; no other.
#[test]
fn when_nothing_more_can_follow() {
    let (mut bench, peer) = Peer::connected(quiet());
    for _ in 0..6 {
        bench.send(0, &[1; 1400]);
    }
    // The initial cwnd of 4404 bytes takes four packets.
    assert_eq!(bits(&bench.take()), [false, false, false, true]);
    bench.shutdown();
    let sent = bench.ask(&peer.sack(peer.node_tsn.plus(3), 100_000));
    assert_eq!(bits(&sent), [false, true]);
}

/// A sender as they were before RFC 7053 waits without saying so. What the user asks for is asked for.
#[test]
fn by_the_user_alone() {
    let config = quiet();
    let sack = SackConfig { requests: SackRequests::ByTheUser, ..config.sack };
    let config = Config { sack, ..config };
    let (mut bench, peer) = Peer::connected(config.clone());
    for _ in 0..5 {
        bench.send(0, &[1; 1400]);
    }
    assert_eq!(bits(&bench.take()), [false; 4], "the chunk that fills cwnd");
    let association = bench.association();
    let acknowledge = Acknowledge::Immediately;
    let message = Message { acknowledge, ..Message::new(StreamId(0), b"please".to_vec()) };
    bench.command(Command::Send { association, message });
    bench.shutdown();
    assert_eq!(bits(&bench.ask(&peer.sack(peer.node_tsn.plus(3), 100_000))), [false, true]);

    let (mut bench, _) = Peer::connected(config);
    bench.send(0, b"lost");
    bench.shutdown();
    bench.pass(Duration::from_secs(1));
    assert_eq!(bits(&bench.take()), [false, false], "before SHUTDOWN, and after T3-rtx");
}
