//! A peer that drops packets with PAD chunks, as some do (interop/README.md), never answers a probe of the packet size.

use core::time::Duration;

use whimbrel_proto::{Comparison, Config};
use whimbrel_wire::{Tsn, chunk_type};

use whimbrel_testbed::peer::{Bench, Peer, Sent};

/// Heartbeats are answered, and DATA is acknowledged unless it is lost, for so many seconds.
fn run(bench: &mut Bench, peer: &Peer, cumulative: &mut Tsn, seconds: u32, lose: bool) {
    for _ in 0..seconds * 10 {
        bench.pass(Duration::from_millis(100));
        let padded = |sent: &Sent| sent.chunks().iter().any(|chunk| chunk.chunk_type() == chunk_type::PAD);
        for sent in bench.take().iter().filter(|sent| !padded(sent)) {
            peer.answer_heartbeats(bench, sent);
            for data in sent.data().iter().filter(|_| !lose) {
                *cumulative = if data.tsn == cumulative.next() { data.tsn } else { *cumulative };
                bench.deliver(&peer.sack(*cumulative, 100_000));
            }
        }
    }
}

/// One second an hour everything is lost; between two of them packets of the base size arrive.
#[test]
fn timeouts_that_lie_far_apart_do_not_make_packets_small_for_ever() {
    for mut config in [Config::rfc(), Config::mobile()] {
        config.heartbeat.comparison = Comparison::Never;
        let base = config.pmtu.base;
        let (mut bench, peer) = Peer::connected(config);
        let mut cumulative = peer.node_tsn.prev();
        for _ in 0..4 {
            for lose in [false, true] {
                bench.send(0, &[1; 1000]);
                let timeouts = bench.paths()[0].counters.timeouts;
                while lose && bench.paths()[0].counters.timeouts == timeouts {
                    run(&mut bench, &peer, &mut cumulative, 1, true);
                }
                run(&mut bench, &peer, &mut cumulative, 1800, false);
            }
        }
        assert_eq!(bench.paths()[0].packet_size, base);
    }
}
