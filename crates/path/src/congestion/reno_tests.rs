use proptest::prelude::*;

use super::*;
use crate::congestion::{InitialWindow, LARGEST_WINDOW};
use whimbrel_machine::Instant;

const PMDCS: usize = 1000;

fn path(pmdcs: usize, ipv6: bool, initial_window: InitialWindow) -> NewPath {
    NewPath { pmdcs, ipv6, initial_window, ssthresh: None, seed: 0 }
}

const ONE: RenoParameters = RenoParameters { slow_start_limit: 1 };

/// A controller that has been used, in a given place.
fn at(cwnd: usize, ssthresh: usize) -> Reno {
    let mut reno = Reno::new(&path(PMDCS, false, InitialWindow::Standard), ONE);
    reno.install(cwnd, ssthresh);
    reno
}

fn acked(bytes: usize, flight_size_before: usize) -> Acked {
    Acked { flight_size_before, ..Acked::of(Instant::ZERO, bytes) }
}

#[test]
fn a_threshold_that_is_known_ends_the_first_slow_start() {
    let threshold = |ssthresh| {
        let path = NewPath { ssthresh, ..path(PMDCS, false, InitialWindow::Packets(2)) };
        let reno = Reno::new(&path, ONE);
        (reno.cwnd(), reno.ssthresh())
    };
    assert_eq!(threshold(Some(9000)), (2000, 9000));
    assert_eq!(threshold(Some(usize::MAX)), (2000, LARGEST_WINDOW));
    assert_eq!(threshold(None), (2000, LARGEST_WINDOW));
}

#[test]
fn initial_window_is_the_rfcs() {
    let standard = |pmdcs, ipv6| path(pmdcs, ipv6, InitialWindow::Standard).initial_cwnd();
    assert_eq!(standard(1000, false), 4000);
    assert_eq!(standard(1440, false), 4404);
    assert_eq!(standard(1440, true), 4344);
    assert_eq!(standard(8940, false), 17_880);
    assert_eq!(path(1440, false, InitialWindow::Packets(10)).initial_cwnd(), 14_400);
    let reno = Reno::new(&path(1440, false, InitialWindow::Standard), ONE);
    assert_eq!((reno.cwnd(), reno.ssthresh()), (4404, u32::MAX as usize));
}

#[test]
fn slow_start_grows_by_what_was_acknowledged_up_to_l_packets() {
    let mut reno = at(4000, 100_000);
    reno.on_acked(&acked(300, 4000));
    assert_eq!(reno.cwnd(), 4300);
    reno.on_acked(&acked(2000, 4300));
    assert_eq!(reno.cwnd(), 5300);
    let wide = RenoParameters { slow_start_limit: 8 };
    let mut reno = Reno::new(&path(PMDCS, false, InitialWindow::Standard), wide);
    reno.on_acked(&acked(4000, 4000));
    assert_eq!(reno.cwnd(), 8000);
    reno.on_acked(&acked(20_000, 8000));
    assert_eq!(reno.cwnd(), 16_000);
}

/// The equality of cwnd and ssthresh is slow start (RFC 9260 §7.2.1).
#[test]
fn slow_start_ends_above_ssthresh() {
    let mut reno = at(8000, 8000);
    reno.on_acked(&acked(1000, 8000));
    assert_eq!(reno.cwnd(), 9000);
    reno.on_acked(&acked(1000, 9000));
    assert_eq!(reno.cwnd(), 9000);
}

/// RFC 9260 §7.2.1: only a window that was in full use grows.
#[test]
fn an_unused_window_does_not_grow() {
    let mut reno = at(8000, 100_000);
    reno.on_acked(&acked(1000, 7000));
    assert_eq!(reno.cwnd(), 8000);
    reno.on_acked(&acked(1000, 7001));
    assert_eq!(reno.cwnd(), 9000);
}

/// RFC 9260 §7.2.2.
#[test]
fn congestion_avoidance_grows_one_packet_per_window() {
    let mut reno = at(10_000, 5000);
    for _ in 0..9 {
        reno.on_acked(&acked(1000, 10_000));
        assert_eq!(reno.cwnd(), 10_000);
    }
    reno.on_acked(&acked(1500, 10_000));
    assert_eq!((reno.cwnd(), reno.partial_bytes_acked), (11_000, 500));
}

/// RFC 9260 §7.2.2: what is saved up for growth is kept, but not beyond cwnd, and forgotten when all is acknowledged.
#[test]
fn partial_bytes_acked_waits_at_cwnd_while_the_window_is_not_used() {
    let mut reno = at(10_000, 5000);
    for _ in 0..30 {
        reno.on_acked(&acked(1000, 4000));
    }
    assert_eq!((reno.cwnd(), reno.partial_bytes_acked), (10_000, 10_000));
    reno.on_acked(&acked(1000, 10_000));
    assert_eq!((reno.cwnd(), reno.partial_bytes_acked), (11_000, 1000));
    reno.on_acked(&Acked { all_acknowledged: true, ..acked(1000, 4000) });
    assert_eq!(reno.partial_bytes_acked, 0);
}

#[test]
fn nothing_grows_during_fast_recovery() {
    for ssthresh in [5000, 100_000] {
        let mut reno = at(10_000, ssthresh);
        for _ in 0..30 {
            reno.on_acked(&Acked { in_fast_recovery: true, ..acked(1000, 10_000) });
        }
        assert_eq!((reno.cwnd(), reno.partial_bytes_acked), (10_000, 0));
    }
}

/// RFC 9260 §7.2.3.
#[test]
fn losses_cut_the_window() {
    let mut reno = at(20_000, 5000);
    reno.on_acked(&acked(3000, 20_000));
    reno.on_fast_retransmit();
    assert_eq!((reno.cwnd(), reno.ssthresh(), reno.partial_bytes_acked), (10_000, 10_000, 0));
    reno.on_timeout();
    assert_eq!((reno.cwnd(), reno.ssthresh()), (1000, 5000));
    reno.on_timeout();
    assert_eq!((reno.cwnd(), reno.ssthresh()), (1000, 4000));
}

#[test]
fn idle_path_forgets_its_window_but_remembers_it_as_threshold() {
    let mut reno = at(20_000, 100_000);
    let mut seen = Vec::new();
    for _ in 0..5 {
        reno.on_idle_period();
        seen.push((reno.cwnd(), reno.ssthresh()));
    }
    assert_eq!(seen, [(10_000, 20_000), (5000, 20_000), (4000, 20_000), (4000, 20_000), (4000, 20_000)]);
    reno.on_acked(&acked(1000, 4000));
    reno.install(8000, 20_000);
    reno.on_idle_period();
    assert_eq!((reno.cwnd(), reno.ssthresh()), (4000, 8000));
}

#[test]
fn standby_path_keeps_its_initial_window_and_idleness_never_raises_one() {
    let mut reno = Reno::new(&path(PMDCS, false, InitialWindow::Packets(10)), ONE);
    reno.on_idle_period();
    assert_eq!((reno.cwnd(), reno.ssthresh()), (10_000, LARGEST_WINDOW));
    reno.on_timeout();
    reno.on_idle_period();
    assert_eq!((reno.cwnd(), reno.ssthresh()), (1000, 5000));
}

#[test]
fn packet_size_moves_an_untouched_initial_window_only() {
    let mut reno = Reno::new(&path(1188, false, InitialWindow::Packets(10)), ONE);
    reno.on_packet_size(1440);
    assert_eq!(reno.cwnd(), 14_400);
    reno.on_acked(&acked(100, 0));
    reno.on_packet_size(1188);
    assert_eq!(reno.cwnd(), 14_400);
    reno.on_timeout();
    reno.on_packet_size(1440);
    assert_eq!(reno.cwnd(), 1440);
}

proptest! {
    /// At least one packet, at most what a receiver can advertise, and per SACK never more than L packets.
    #[test]
    fn window_stays_sane(
        events in proptest::collection::vec((0_u8..6, any::<u32>(), any::<u32>()), 0..200),
        slow_start_limit in 1_u32..10,
    ) {
        let mut reno = Reno::new(&path(PMDCS, true, InitialWindow::Standard), RenoParameters { slow_start_limit });
        for (kind, a, b) in events {
            let (before, a, b) = (reno.cwnd(), a as usize, b as usize);
            match kind {
                0 | 1 => {
                    let flight_size = if kind == 0 { before } else { b };
                    reno.on_acked(&acked(a, flight_size));
                    prop_assert!(reno.cwnd() >= before);
                    prop_assert!(reno.cwnd() <= before + slow_start_limit as usize * PMDCS);
                    prop_assert!(reno.cwnd() == before || flight_size + PMDCS > before);
                }
                2 => reno.on_fast_retransmit(),
                3 => reno.on_timeout(),
                4 => {
                    reno.on_idle_period();
                    prop_assert!(reno.cwnd() <= before);
                }
                _ => reno.install(a, b),
            }
            prop_assert!(reno.cwnd() >= PMDCS && reno.cwnd() <= LARGEST_WINDOW);
            prop_assert!(reno.ssthresh() <= LARGEST_WINDOW);
        }
    }
}
