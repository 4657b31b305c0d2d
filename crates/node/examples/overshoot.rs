//! Bulk transfers over bottlenecks of many kinds in virtual time: what slow start's overshoot costs.
//!
//! `cargo run --release -p whimbrel-node --example overshoot [table|short|timeline MBIT RTT_MS QUEUE BUFFERS_MIB LOSS SEED]`
//!
//! QUEUE is in packets, or with a `b` behind it in hundredths of what the network holds (the product of bandwidth and delay). The
//! tables have goodput in Mbit/s in the first second, the next two and the rest, then halvings of the window, timeouts, chunks
//! retransmitted, chunks that came twice, and packets dropped.

use core::time::Duration;

use whimbrel_netsim::QueueLimit;
use whimbrel_proto::Config;
use whimbrel_testbed::bulk::{Bulk, Place};

const SECOND: Duration = Duration::from_secs(1);

fn queue(mbit: u64, rtt_ms: u64, word: &str) -> QueueLimit {
    match word.strip_suffix('b') {
        Some(hundredths) => {
            let hundredths: u64 = hundredths.parse().expect("a number");
            QueueLimit::bytes(Place::capacity(mbit, rtt_ms) * hundredths / 100)
        }
        None => QueueLimit::packets(word.parse().expect("a number")),
    }
}

/// Buffers that hold what is in flight while a loss is repaired.
fn ample(mbit: u64, rtt_ms: u64) -> usize {
    (Place::capacity(mbit, rtt_ms) as usize * 5 / 2).next_power_of_two().max(4 << 20)
}

fn timeline(place: Place) {
    const STEP: Duration = Duration::from_millis(50);
    let mut bulk = Bulk::new(place, Config::mobile(), 8);
    bulk.pass(SECOND / 2);
    let mut before = bulk.totals();
    for step in 1..=120 {
        bulk.pass(STEP);
        let (path, now) = (bulk.path(), bulk.totals());
        println!(
            "{:5} ms {:6.1} Mbit/s cwnd {:8} ssthresh {:10} flight {:8} {:?} srtt {:?} rto {:?} halved {} T3 {} rtx {} dup {} dropped {}",
            500 + step * 50,
            now.mbit(before, STEP),
            path.cwnd,
            path.ssthresh,
            path.flight_size,
            path.phase,
            path.srtt,
            path.rto,
            now.halvings,
            now.timeouts,
            now.retransmitted,
            now.duplicates,
            now.dropped,
        );
        before = now;
    }
}

fn row(name: &str, place: Place) {
    let mut bulk = Bulk::new(place, Config::mobile(), 20);
    bulk.pass(SECOND);
    let first = bulk.totals();
    bulk.pass(2 * SECOND);
    let third = bulk.totals();
    bulk.pass(17 * SECOND);
    let last = bulk.totals();
    println!(
        "| {} | {} | {name} | {} | {} | {:.0} | {:.0} | {:.0} | {} | {} | {} | {} | {} |",
        place.mbit,
        place.rtt_ms,
        place.loss * 100.0,
        place.seed,
        first.mbit(Default::default(), SECOND),
        third.mbit(first, 2 * SECOND),
        last.mbit(third, 17 * SECOND),
        last.halvings,
        last.timeouts,
        last.retransmitted,
        last.duplicates,
        last.dropped,
    );
}

fn table(short: bool) {
    println!(
        "| Mbit/s | RTT | queue | loss % | seed | s 0-1 | s 1-3 | s 3-20 | halvings | T3 | rtx | twice | dropped |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let rates: &[u64] = if short { &[100] } else { &[100, 1000] };
    for &mbit in rates {
        for rtt_ms in [10, 50, 100, 200] {
            for name in ["25b", "50b", "100b", "200b", "100", "400"] {
                for (loss, seed) in [(0.0, 1), (0.0001, 1), (0.0001, 2)] {
                    let (queue, buffers) = (queue(mbit, rtt_ms, name), ample(mbit, rtt_ms));
                    row(name, Place { mbit, rtt_ms, queue, loss, buffers, seed });
                }
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(|word| &word[..]).collect();
    match words[..] {
        ["table"] => table(false),
        ["short"] => table(true),
        ["timeline" | "row", mbit, rtt_ms, name, mebibytes, loss, seed] => {
            let number = |word: &str| word.parse::<u64>().expect("a number");
            let (mbit, rtt_ms) = (number(mbit), number(rtt_ms));
            let loss: f64 = loss.parse().expect("a probability");
            let (queue, buffers) = (queue(mbit, rtt_ms, name), (number(mebibytes) as usize) << 20);
            let place = Place { mbit, rtt_ms, queue, loss, buffers, seed: number(seed) };
            if words[0] == "row" { row(name, place) } else { timeline(place) }
        }
        _ => panic!("see the top of the file for its arguments"),
    }
}
