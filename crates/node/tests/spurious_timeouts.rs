//! What a timer calls lost may be late only: what the congestion window does then.

use core::time::Duration;

use whimbrel_proto::{Comparison, Config, PmtuSearch};
use whimbrel_wire::{Chunk, HeartbeatAck, Tsn};

use crate::common::wire_peer::{Bench, Peer, Sent};

const A_RWND: u32 = 10_000_000;

fn answer(bench: &mut Bench, peer: &Peer, sent: &Sent) {
    for chunk in sent.chunks() {
        if let Chunk::Heartbeat(heartbeat) = chunk {
            bench.deliver(&peer.packet(&[&HeartbeatAck { info: heartbeat.info }]));
        }
    }
}

fn has_heartbeat(sent: &Sent) -> bool {
    sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)))
}

/// A window that has grown over a round trip of 20 ms, and then a flight of which nothing is heard until T3-rtx has expired. Returns
/// the TSNs of the flight, and what was sent from its probe on.
fn timed_out() -> (Bench, Peer, Vec<Tsn>, Vec<Sent>) {
    let mut config = Config::mobile();
    config.pmtu.search = PmtuSearch::Off;
    config.heartbeat.comparison = Comparison::Never;
    let mut bench = Bench::new(config);
    let mut peer = Peer::new();
    peer.a_rwnd = A_RWND;
    peer.connect(&mut bench);
    for n in 0..12 {
        (0..10 + 3 * n).for_each(|_| bench.send(0, &[7; 1100]));
        for _ in 0..20 {
            let sent = bench.take();
            sent.iter().for_each(|sent| answer(&mut bench, &peer, sent));
            bench.pass(Duration::from_millis(20));
            if let Some(last) = tsns(&sent).last() {
                bench.deliver(&peer.sack(*last, A_RWND));
            }
        }
    }
    bench.take();
    (0..60).for_each(|_| bench.send(0, &[7; 1100]));
    let flight = tsns(&bench.take());
    bench.pass(Duration::from_millis(260));
    assert_eq!(bench.paths()[0].counters.timeouts, 1);
    let sent = bench.take();
    (bench, peer, flight, sent)
}

fn tsns(sent: &[Sent]) -> Vec<Tsn> {
    sent.iter().flat_map(|sent| sent.data().iter().map(|data| data.tsn).collect::<Vec<_>>()).collect()
}

/// RFC 9260 §7.2.3: after T3-rtx no more than one packet is in flight until DATA is acknowledged. The first heartbeat has waited in the
/// queue that everything else found full.
#[test]
fn a_late_heartbeat_gives_back_no_window_while_data_is_lost() {
    let (mut bench, peer, _, sent) = timed_out();
    let before = bench.paths()[0].cwnd;
    answer(&mut bench, &peer, sent.iter().find(|sent| has_heartbeat(sent)).expect("a heartbeat"));
    let burst = bench.take().iter().filter(|sent| !sent.data().is_empty()).count();
    assert!(burst <= 1 && bench.paths()[0].cwnd == before, "{burst} packets");
}

/// What has not been sent again yet is acknowledged: it was late.
#[test]
fn the_acknowledgement_of_what_was_called_lost_gives_the_window_back() {
    let (mut bench, peer, flight, _) = timed_out();
    let before = bench.paths()[0].cwnd;
    bench.deliver(&peer.sack(flight[flight.len() / 2], A_RWND));
    let after = bench.paths()[0].cwnd;
    assert!(after > 10 * before, "{before} to {after} bytes");
}
