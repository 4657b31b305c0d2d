use proptest::prelude::*;

use super::*;
use crate::congestion::{InitialWindow, LARGEST_WINDOW};

const MSS: usize = 1000;
const MS: Duration = Duration::from_millis(1);
const START: Instant = Instant::from_nanos(1_000_000_000);

/// A controller in congestion avoidance with so many packets, on a path of 100 ms.
fn at(packets: usize) -> Cubic {
    let path =
        NewPath { pmdcs: MSS, ipv6: false, initial_window: InitialWindow::Standard, ssthresh: None, seed: 0 };
    let mut cubic = Cubic::new(&path, CubicParameters { slow_start_limit: 1 });
    cubic.install(packets * MSS, packets * MSS - 1);
    cubic.round_trip = Some(100 * MS);
    cubic
}

/// A window is acknowledged, packet by packet, at one instant.
fn window(cubic: &mut Cubic, now: Instant) {
    (0..cubic.cwnd() / MSS).for_each(|_| cubic.on_acked(&Acked::of(now, MSS)));
}

#[test]
fn cube_roots_are_exact() {
    for root in [1_u64, 2, 3, 10, 999, 1 << 20, 1_000_000_007] {
        let cube = u128::from(root).pow(3);
        assert_eq!((cube_root(cube - 1), cube_root(cube), cube_root(cube + 1)), (root - 1, root, root));
    }
    assert_eq!(cube_root(0), 0);
    assert_eq!(u128::from(cube_root(u128::MAX)), 6_981_463_658_331);
}

/// RFC 9438 §4.2: K = cbrt((100 − 70) / 0.4) = cbrt(75) s = 4.217163 s.
#[test]
fn k_is_the_rfcs() {
    assert_eq!(k_us(30 * MSS, MSS), 4_217_163);
    assert_eq!(k_us(0, MSS), 0);
}

/// RFC 9438 §4.2, Figure 1: 0.4·(t − K)³ + W_max, at 0, K, K + 1 s and K + 5 s.
#[test]
fn the_function_is_the_rfcs() {
    let epoch = Epoch::new(START, 70 * MSS, 100 * MSS, MSS);
    let w = |us: u64| epoch.w_cubic(Duration::from_micros(us), MSS);
    assert!(w(0).abs_diff(70 * MSS) <= 1, "{}", w(0));
    assert_eq!(w(4_217_163), 100 * MSS);
    assert_eq!(w(5_217_163), 100_400);
    assert_eq!(w(9_217_163), 150 * MSS);
    assert_eq!(w(u64::MAX), epoch.w_cubic(Duration::from_secs(10_000), MSS));
}

/// RFC 9438 §4.6, RFC 9438 §4.7: to 7/10; a second loss below the plateau lowers that to 17/20 of the window.
#[test]
fn losses_take_three_tenths_and_converge_fast() {
    let mut cubic = at(100);
    cubic.on_fast_retransmit();
    assert_eq!((cubic.cwnd(), cubic.ssthresh(), cubic.w_max), (70 * MSS, 70 * MSS, 100 * MSS));
    cubic.on_fast_retransmit();
    assert_eq!((cubic.cwnd(), cubic.w_max), (49 * MSS, 59_500));
    let mut small = at(5);
    small.on_fast_retransmit();
    assert_eq!(small.cwnd(), 4 * MSS, "RFC 9260 §7.2.3");
}

/// RFC 9438 §4.8: one packet, slow start to 7/10, and then from a plateau that is the window itself.
#[test]
fn a_timeout_begins_on_a_plateau() {
    let mut cubic = at(100);
    cubic.on_timeout();
    assert_eq!((cubic.cwnd(), cubic.ssthresh()), (MSS, 70 * MSS));
    (0..70).for_each(|_| cubic.on_acked(&Acked::of(START, MSS)));
    assert_eq!(cubic.cwnd(), 71 * MSS);
    cubic.on_acked(&Acked::of(START, MSS));
    let epoch = cubic.epoch.unwrap();
    assert_eq!((epoch.k_us, epoch.w_max), (0, 71 * MSS));
}

/// Concave up to the plateau at K, convex behind it. 100 packets at 100 ms are beyond where Reno would be as fast (RFC 9438 §5.1).
#[test]
fn the_window_comes_back_rests_and_goes_beyond() {
    let mut cubic = at(1000);
    cubic.on_fast_retransmit();
    // K = cbrt(300 / 0.4) = 9.086 s.
    let mut sizes = Vec::new();
    for step in 0_u32..150 {
        window(&mut cubic, START + 100 * MS * step);
        sizes.push(cubic.cwnd() / MSS);
    }
    // A round trip ahead of the function: 1000 − 0.4·6.186³ and 1000 + 0.4·5.914³.
    assert!(sizes[28].abs_diff(1000 - 95) <= 3, "{}", sizes[28]);
    assert!(sizes[90].abs_diff(1000) <= 1, "{}", sizes[90]);
    assert!(sizes[149].abs_diff(1000 + 82) <= 4, "{}", sizes[149]);
}

/// RFC 9438 §4.3: on a short path the window is Reno's, of 0.53 packets a round trip up to where it was reduced and of 1 beyond.
#[test]
fn short_paths_are_renos() {
    let mut cubic = at(20);
    cubic.on_fast_retransmit();
    // A window that is ssthresh grows as in slow start once more (RFC 9260 §7.2.1).
    cubic.on_acked(&Acked::of(START, MSS));
    assert_eq!(cubic.cwnd(), 15 * MSS);
    for round in 0_u32..6 {
        window(&mut cubic, START + MS * round);
    }
    let grown = cubic.cwnd() - 15 * MSS;
    // 6 · 9/17 packets, less what the window grows within a round.
    assert!((2700..=3180).contains(&grown), "{grown}");
    for round in 6_u32..11 {
        window(&mut cubic, START + MS * round);
    }
    let before = cubic.cwnd();
    assert!(before >= 20 * MSS, "{before}");
    window(&mut cubic, START + 11 * MS);
    assert!((900..=1000).contains(&(cubic.cwnd() - before)), "{}", cubic.cwnd() - before);
}

/// RFC 9438 §5.8: a window that is not used does not grow, and what it is not used for does not count when it is again.
#[test]
fn unused_time_does_not_count() {
    let mut cubic = at(100);
    cubic.on_fast_retransmit();
    (0..2).for_each(|_| cubic.on_acked(&Acked::of(START, MSS)));
    let (before, at_once) = (cubic.cwnd(), cubic.clone());
    for second in 1_u32..=60 {
        let idle = Acked { flight_size_before: 10 * MSS, ..Acked::of(START + 1000 * MS * second, MSS) };
        cubic.on_acked(&idle);
    }
    assert_eq!(cubic.cwnd(), before);
    cubic.on_acked(&Acked::of(START + 60_100 * MS, MSS));
    let mut at_once = at_once;
    at_once.on_acked(&Acked::of(START + 100 * MS, MSS));
    assert_eq!(cubic.cwnd(), at_once.cwnd());
}

#[test]
fn idle_windows_decay_and_come_back_by_slow_start() {
    let mut cubic = at(100);
    cubic.on_acked(&Acked::of(START, MSS));
    cubic.on_idle_period();
    cubic.on_idle_period();
    assert_eq!((cubic.cwnd() / MSS, cubic.ssthresh() / MSS), (25, 100));
    assert!(cubic.epoch.is_none());
}

#[test]
fn an_installed_window_forgets_the_plateau() {
    let mut cubic = at(100);
    cubic.on_fast_retransmit();
    cubic.install(50 * MSS, 40 * MSS);
    cubic.on_acked(&Acked::of(START, MSS));
    assert_eq!(cubic.epoch.unwrap().w_max, 50 * MSS);
}

proptest! {
    /// At least one packet, at most what a receiver can advertise; never more than half the window for one window acknowledged.
    #[test]
    fn window_stays_sane(events in proptest::collection::vec((0_u8..7, any::<u32>(), any::<u32>()), 0..200)) {
        let mut cubic = at(10);
        let mut now = START;
        for (kind, a, b) in events {
            let (before, bytes) = (cubic.cwnd(), a as usize);
            now += Duration::from_nanos(u64::from(b) * u64::from(b % 100));
            match kind {
                0 | 1 => {
                    let rtt = Some(Duration::from_micros(b.into()));
                    cubic.on_acked(&Acked { rtt, ..Acked::of(now, bytes.min(before)) });
                    prop_assert!(cubic.cwnd() >= before);
                    prop_assert!(cubic.cwnd() <= before + before / 2 + bytes.max(MSS));
                }
                2 => cubic.on_fast_retransmit(),
                3 => cubic.on_timeout(),
                4 => {
                    cubic.on_idle_period();
                    prop_assert!(cubic.cwnd() <= before);
                }
                5 => cubic.on_packet_size(1 + a as usize % 65_536),
                _ => cubic.install(a as usize, b as usize),
            }
            prop_assert!(cubic.cwnd() >= 1 && cubic.cwnd() <= LARGEST_WINDOW);
            prop_assert!(cubic.ssthresh() <= LARGEST_WINDOW);
        }
    }
}
