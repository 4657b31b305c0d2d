//! What several paths carry together.

use super::*;

const SECONDS: u64 = 12;
const BUFFERS: usize = 4 << 20;

/// What each path carries alone, and both together.
fn compare(name: Name, config: Config, places: [Place; 2]) -> ([f64; 2], Outcome) {
    let alone = places.map(|place| run(&[place], name.mobile(), SECONDS).goodput);
    let scheduler = config.multipath.scheduler;
    let together = run(&places, config, SECONDS);
    println!(
        "{name:?} {scheduler:?} {}+{} Mbit/s, {} and {} ms, {} KB: alone {:.1} {:.1}, together {:.1} ({:.1} % of the sum, {:.1} % of the better) {:?}",
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

fn usual(name: Name) -> Config {
    name.mobile().combining_paths()
}

fn pair(mbit: [u64; 2], rtt_ms: [u64; 2], buffers: usize) -> [Place; 2] {
    [0, 1].map(|n| place(mbit[n], rtt_ms[n], buffers))
}

/// Equal paths, and one that carries four times as much as the other.
#[test]
fn two_paths_carry_what_both_carry_alone() {
    for name in [Name::Reno, Name::Bbr] {
        for mbit in [[20, 20], [40, 10]] {
            let (alone, together) = compare(name, usual(name), pair(mbit, [20, 20], BUFFERS));
            assert!(
                together.goodput >= 0.95 * (alone[0] + alone[1]),
                "{name:?} {mbit:?}: {alone:?}, {together:.1?}"
            );
        }
    }
}

/// A slow path beside a quick one fills buffers that are small for it, so that it is left alone.
#[test]
fn a_second_path_never_hurts() {
    for name in [Name::Reno, Name::Bbr] {
        for buffers in [64 << 10, 256 << 10] {
            for (mbit, rtt_ms) in [([40, 10], [20, 20]), ([50, 5], [20, 160])] {
                let (alone, together) = compare(name, usual(name), pair(mbit, rtt_ms, buffers));
                let better = alone[0].max(alone[1]);
                assert!(
                    together.goodput >= 0.98 * better,
                    "{name:?} {mbit:?} {buffers}: {alone:?}, {together:.1?}"
                );
            }
        }
    }
}

/// Round trips of 20 and 160 ms, queues that do not overflow: whatever the scheduler, nothing is lost and nothing is sent again, and the
/// round trip of the slow path is its own, though the quick one tells first what has arrived there.
#[test]
fn clean_paths_lose_nothing() {
    let places =
        pair([50, 5], [20, 160], BUFFERS).map(|place| Place { queue: QueueLimit::bytes(1 << 24), ..place });
    for scheduler in SCHEDULERS {
        let bbr = scheduler == PathScheduler::EarliestCompletion;
        for name in [Name::Reno, Name::Bbr].into_iter().take(1 + usize::from(bbr)) {
            let together = run(&places, combining(name.mobile(), scheduler), 4);
            let Totals { retransmitted, duplicates, halvings, timeouts, .. } = together.totals;
            // What is late at first goes out again, and copies are meant to arrive.
            let moves = matches!(scheduler, PathScheduler::EarliestCompletion | PathScheduler::Redundant);
            let most = if moves { 80 } else { 0 };
            let duplicates = if scheduler == PathScheduler::Redundant { 0 } else { duplicates };
            assert_eq!((halvings, timeouts), (0, 0), "{name:?} {scheduler:?}");
            assert!(
                retransmitted.max(duplicates) <= most,
                "{name:?} {scheduler:?}: {retransmitted}, {duplicates}"
            );
            let slow = together.round_trips[1];
            assert!(slow >= Duration::from_millis(159), "{name:?} {scheduler:?}: {slow:?}");
        }
    }
}

/// One packet in a hundred is lost on one of the paths.
#[test]
fn losses_of_one_path_leave_the_other_alone() {
    for name in [Name::Reno, Name::Bbr] {
        let mut places = pair([20, 20], [20, 20], BUFFERS);
        places[1].loss = 0.01;
        let (alone, together) = compare(name, usual(name), places);
        assert!(together.goodput >= 0.95 * (alone[0] + alone[1]), "{name:?}: {alone:?}, {together:.1?}");
    }
}

#[test]
#[ignore = "prints a table; CONTRIBUTING.md has the command"]
fn table() {
    for name in [Name::Reno, Name::Bbr] {
        for buffers in [4 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10, 64 << 10] {
            for (mbit, rtt_ms) in [([20, 20], [20, 20]), ([40, 10], [20, 20]), ([50, 5], [20, 160])] {
                compare(name, usual(name), pair(mbit, rtt_ms, buffers));
            }
        }
    }
}

/// What each scheduler makes of it.
#[test]
#[ignore = "prints a table; CONTRIBUTING.md has the command"]
fn schedulers() {
    for (mbit, rtt_ms) in [([20, 20], [20, 20]), ([40, 10], [20, 20]), ([50, 5], [20, 160])] {
        for buffers in [4 << 20, 256 << 10, 64 << 10] {
            for scheduler in SCHEDULERS {
                compare(Name::Reno, combining(Name::Reno.mobile(), scheduler), pair(mbit, rtt_ms, buffers));
            }
        }
    }
}
