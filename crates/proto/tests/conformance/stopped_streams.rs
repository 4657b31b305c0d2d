//! A stream of DATA that stops: the receiver asks whether the path is alive before the next HEARTBEAT is due (RFC 9260 §8.3).

use core::time::Duration;

use whimbrel_proto::{Config, TailLoss};

use whimbrel_testbed::peer::{Bench, Peer, Sent, quiet};

fn probing() -> Config {
    let mut config = quiet();
    config.retransmission.tail = TailLoss::Probe;
    config
}

/// HEARTBEATs that leave within this time, which are answered or not.
fn asked(bench: &mut Bench, peer: &Peer, milliseconds: u64, answered: bool) -> usize {
    let mut heartbeats = 0;
    for _ in 0..milliseconds {
        for sent in bench.take() {
            heartbeats += sent.heartbeats().len();
            if answered {
                peer.answer_heartbeats(bench, &sent);
            }
        }
        bench.pass(Duration::from_millis(1));
    }
    heartbeats
}

/// The node after a stream of `packets` with so many milliseconds between them; how often it has asked meanwhile.
fn after_stream(config: Config, packets: u16, spacing: u64) -> (Bench, Peer, usize) {
    let (mut bench, mut peer) = Peer::connected(config);
    bench.send(0, b"a round trip to measure");
    let tsn = bench.take_only().data()[0].tsn;
    bench.pass(Duration::from_millis(20));
    bench.deliver(&peer.sack(tsn, 1 << 20));
    let mut heartbeats = 0;
    for ssn in 0..packets {
        let chunk = peer.data(0, ssn, b"a record");
        bench.deliver(&peer.packet(&[&chunk]));
        heartbeats += asked(&mut bench, &peer, spacing, true);
    }
    (bench, peer, heartbeats)
}

#[test]
fn a_stream_that_stops_is_asked_after_once() {
    let (mut bench, peer, meanwhile) = after_stream(probing(), 60, 10);
    assert_eq!(meanwhile, 0, "it runs");
    assert_eq!(asked(&mut bench, &peer, 150, true), 1);
    assert_eq!(asked(&mut bench, &peer, 5_000, true), 0, "the path is alive");
}

/// One HEARTBEAT may be lost, and is repeated as any probe is.
#[test]
fn who_does_not_answer_is_asked_again() {
    let (mut bench, peer, _) = after_stream(probing(), 60, 10);
    let asked = asked(&mut bench, &peer, 800, false);
    assert!((3..=12).contains(&asked), "{asked}");
}

/// A few packets are no stream, nor are some that come now and then.
#[test]
fn what_comes_now_and_then_does_not_stop() {
    for (packets, spacing) in [(12, 10), (60, 120)] {
        let (mut bench, peer, meanwhile) = after_stream(probing(), packets, spacing);
        assert_eq!(
            meanwhile + asked(&mut bench, &peer, 5_000, true),
            0,
            "{packets} packets, {spacing} ms apart"
        );
    }
}

/// Bursts are one stream as long as the pauses between them are short.
#[test]
fn bursts_are_not_asked_after_one_by_one() {
    let (mut bench, mut peer) = Peer::connected(probing());
    let mut heartbeats = 0;
    for burst in 0..60 {
        for ssn in 0..5 {
            let chunk = peer.data(0, burst * 5 + ssn, b"a part of a frame");
            bench.deliver(&peer.packet(&[&chunk]));
        }
        heartbeats += asked(&mut bench, &peer, 33, true);
    }
    assert_eq!(heartbeats, 0);
    assert_eq!(asked(&mut bench, &peer, 1_000, true), 1);
}

/// Where the RFC's timers are all there is, or heartbeats are switched off, nobody asks; nor where DATA of ours is on its way, which is missed by
/// its own timers.
#[test]
fn nobody_asks_who_has_another_way_to_find_out() {
    let mut silent = probing();
    silent.heartbeat.interval = None;
    for config in [quiet(), silent] {
        let (mut bench, peer, meanwhile) = after_stream(config, 60, 10);
        assert_eq!(meanwhile + asked(&mut bench, &peer, 5_000, true), 0);
    }
    let (mut bench, _, _) = after_stream(probing(), 60, 10);
    bench.send(0, b"not acknowledged");
    bench.pass(Duration::from_millis(150));
    let sent = bench.take();
    let data: usize = sent.iter().map(|sent| sent.data().len()).sum();
    let heartbeats: usize = sent.iter().map(Sent::heartbeats).map(|all| all.len()).sum();
    assert!(data >= 1 && heartbeats <= data, "{data} chunks, {heartbeats} heartbeats");
}
