//! Users who send less than the path carries.

use super::*;

/// A user who sends a packet every 10 ms: when the round trip has become ten times as long 40 of them are in flight, and a window of four would make the others wait ever longer.
#[test]
fn a_longer_route_holds_no_user_up() {
    let mut bench = Bench::new(1_000_000);
    let rounds = |bench: &mut Bench, count| {
        for _ in 0..count {
            bench.busy = true;
            bench.pass(MS / 20);
            bench.busy = false;
            bench.pass(10 * MS - MS / 20);
        }
    };
    rounds(&mut bench, 300);
    bench.round_trip *= 10;
    rounds(&mut bench, 150);
    assert!(bench.bbr.cwnd() >= 40 * PMDCS, "{}", bench.bbr.cwnd());
}

/// A user who sends a packet each millisecond, a tenth of what the path carries, of which every seventh is lost, wherever the rest goes. Nothing of
/// it keeps the user from sending. Who sends all that goes has no use for what was learnt, and soon forgets it.
#[test]
fn losses_that_come_all_the_time_hold_no_user_up() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    bench.loses_each = 7;
    let rounds = |bench: &mut Bench, count| {
        for _ in 0..count {
            bench.busy = true;
            bench.pass(MS / 20);
            bench.busy = false;
            bench.pass(MS - MS / 20);
        }
    };
    rounds(&mut bench, 2000);
    bench.sent = 0;
    rounds(&mut bench, 10_000);
    assert!(bench.sent > 9_800, "{}", bench.sent);
    assert!((28..=32).contains(&bench.bbr.loss_threshold()), "{}", bench.bbr.loss_threshold());
    bench.busy = true;
    bench.pass(11_000 * MS);
    assert_eq!(bench.bbr.loss_threshold(), 2);
}

/// A user who sends little does not make the path slow.
#[test]
fn what_the_user_limits_is_not_believed() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    let known = bench.bbr.max_bandwidth.get();
    for _ in 0..100 {
        bench.busy = true;
        bench.pass(2 * MS);
        bench.busy = false;
        bench.pass(98 * MS);
    }
    let bandwidth = bench.bbr.max_bandwidth.get();
    assert!(bandwidth * 100 > known * 95, "{bandwidth} after {known}");
}

/// Nothing is held back to see how short the round trip is: none of it is this user's queue. A route that has become longer is noticed all the same.
#[test]
fn nothing_is_held_back_to_measure_the_round_trip_of_who_sends_little() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    let seconds = |bench: &mut Bench, seconds: u64| {
        let mut probed = false;
        for _ in 0..seconds * 100 {
            bench.busy = true;
            bench.pass(MS / 2);
            bench.busy = false;
            bench.pass(10 * MS - MS / 2);
            probed |= bench.bbr.state == State::ProbeRtt;
        }
        probed
    };
    seconds(&mut bench, 6);
    assert!(!seconds(&mut bench, 30), "ProbeRTT");
    let before = bench.bbr.min_rtt.get().unwrap();
    bench.round_trip *= 3;
    seconds(&mut bench, 25);
    let after = bench.bbr.min_rtt.get().unwrap();
    assert!(after > before * 2, "{after:?} after {before:?}");
    // Who fills the path has a queue to empty.
    bench.busy = true;
    let mut probed = false;
    for _ in 0..1200 {
        bench.pass(10 * MS);
        probed |= bench.bbr.state == State::ProbeRtt;
    }
    assert!(probed);
}
