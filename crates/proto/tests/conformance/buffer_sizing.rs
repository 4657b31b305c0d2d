//! Receive buffers that follow the path: what is offered to peers of programs that read, and of programs that do not.

use core::time::Duration;

use whimbrel_netsim::QueueLimit;
use whimbrel_proto::{BufferSizing, Command, Config};
use whimbrel_testbed::bulk::{Bulk, Place};
use whimbrel_testbed::peer::{Bench, Peer, quiet};
use whimbrel_wire::Chunk;

const LEAST: usize = 8192;
const MOST: usize = 1 << 20;

fn config() -> Config {
    let mut config = quiet();
    config.limits.receive_buffer = MOST;
    config.limits.sizing = BufferSizing::Measured { least: LEAST };
    config
}

fn up() -> (Bench, Peer) {
    let mut bench = Bench::new(config());
    let mut peer = Peer { a_rwnd: 100_000, ..Peer::new() };
    peer.connect(&mut bench);
    bench.take();
    (bench, peer)
}

/// The a_rwnd of the last SACK that was sent.
fn offered(bench: &mut Bench) -> Option<u32> {
    let sent = bench.take();
    let mut sacks = sent.iter().flat_map(|sent| sent.chunks()).filter_map(|chunk| match chunk {
        Chunk::Sack(sack) => Some(sack.a_rwnd),
        _ => None,
    });
    sacks.next_back()
}

/// Delivers a message of 1000 bytes, and lets the SACK go.
fn message(bench: &mut Bench, peer: &mut Peer, ssn: u16) -> Option<u32> {
    let chunk = peer.data(0, ssn, &[7; 1000]);
    bench.deliver(&peer.packet(&[&chunk]));
    bench.pass(Duration::from_millis(250));
    offered(bench)
}

#[test]
fn a_program_that_does_not_read_holds_no_more_than_the_least() {
    let (mut bench, mut peer) = up();
    let mut last = None;
    for ssn in 0..8 {
        last = message(&mut bench, &mut peer, ssn);
    }
    assert!(last.is_some_and(|a_rwnd| a_rwnd <= 192), "{last:?}");
    // A peer that sends all the same is not served.
    for ssn in 8..100 {
        message(&mut bench, &mut peer, ssn);
    }
    assert!(bench.received().len() <= 9, "{}", bench.received().len());
}

#[test]
fn a_program_that_reads_is_offered_more_and_more_up_to_the_whole_buffer() {
    let (mut bench, mut peer) = up();
    let association = bench.association();
    let mut offers = Vec::new();
    for ssn in 0..2000 {
        let chunk = peer.data(0, ssn, &[7; 1000]);
        bench.deliver(&peer.packet(&[&chunk]));
        bench.command(Command::Release { association, bytes: 1000 });
        offers.extend(offered(&mut bench));
    }
    assert!(offers.iter().any(|&a_rwnd| a_rwnd > 100_000), "{offers:?}");
    assert!(offers.last().is_some_and(|&a_rwnd| a_rwnd as usize > MOST - 2000), "{:?}", offers.last());
}

/// A message that has begun is no reason to hold back its end, however large it is and whoever does not read: nobody can.
#[test]
fn a_message_larger_than_the_least_arrives_as_a_whole() {
    const PARTS: usize = 100;
    let (mut bench, mut peer) = up();
    for part in 0..PARTS {
        let mut chunk = peer.data(0, 0, &[7; 1000]);
        (chunk.beginning, chunk.ending) = (part == 0, part == PARTS - 1);
        bench.deliver(&peer.packet(&[&chunk]));
    }
    let received = bench.received();
    assert_eq!(received.iter().map(Vec::len).collect::<Vec<_>>(), [PARTS * 1000]);
}

/// Mbit/s in the first two seconds and in those that follow.
fn goodput(sizing: BufferSizing, rtt_ms: u64, loss: f64) -> [f64; 2] {
    let mbit = 100;
    let queue = QueueLimit::bytes(Place::capacity(mbit, rtt_ms));
    let place = Place { mbit, rtt_ms, queue, loss, buffers: 16 << 20, seed: 1 };
    let mut config = Config::mobile();
    config.limits.sizing = sizing;
    let mut bulk = Bulk::new(place, config, 5);
    bulk.pass(Duration::from_secs(2));
    let first = bulk.totals();
    bulk.pass(Duration::from_secs(2));
    let rest = bulk.totals().mbit(first, Duration::from_secs(2));
    [first.delivered as f64 * 4e-6, rest]
}

#[test]
fn what_follows_the_path_holds_nobody_up() {
    for (rtt_ms, loss) in [(5, 0.0), (50, 0.0), (200, 0.0), (50, 0.001)] {
        let whole = goodput(BufferSizing::Whole, rtt_ms, loss);
        let measured = goodput(BufferSizing::Measured { least: 64 << 10 }, rtt_ms, loss);
        for (whole, measured) in whole.into_iter().zip(measured) {
            assert!(measured > 0.95 * whole, "{rtt_ms} ms, loss {loss}: {measured:.1} of {whole:.1} Mbit/s");
        }
    }
}
