//! What several paths carry together.

use super::*;

const SECONDS: u64 = 12;

/// What each path carries alone, and both together.
fn compare(name: Name, scheduler: PathScheduler, places: [Place; 2]) -> ([f64; 2], Outcome) {
    let alone = places.map(|place| run(&[place], name.mobile(), SECONDS).goodput);
    let together = run(&places, combining(name.mobile(), scheduler), SECONDS);
    println!(
        "{name:?} {scheduler:?} {}+{} Mbit/s {}/{} ms {} KB: alone {:.1} {:.1}, together {:.1} ({:.1} % of the sum, {:.1} % of the better) {:?}",
        places[0].mbit,
        places[1].mbit,
        places[0].rtt_ms,
        places[1].rtt_ms,
        places[0].buffers >> 10,
        alone[0],
        alone[1],
        together.goodput,
        together.goodput / (alone[0] + alone[1]) * 100.0,
        together.goodput / alone[0].max(alone[1]) * 100.0,
        (together.totals, together.share, together.round_trips),
    );
    (alone, together)
}

#[test]
#[ignore = "prints a table"]
fn table() {
    for name in [Name::Reno, Name::Bbr] {
        for buffers in [4 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10, 64 << 10] {
            for (mbit, rtt) in [([20, 20], [20, 20]), ([40, 10], [20, 20]), ([50, 5], [20, 160])] {
                let places = [0, 1].map(|n| place(mbit[n], rtt[n], buffers));
                compare(name, PathScheduler::EarliestCompletion, places);
            }
        }
    }
}
