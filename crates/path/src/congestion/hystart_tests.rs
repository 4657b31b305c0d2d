use super::*;
use crate::congestion::{Cubic, CubicParameters, InitialWindow, Reno, RenoParameters};

const PMDCS: usize = 1000;
const MS: Duration = Duration::from_millis(1);

fn path() -> NewPath {
    NewPath { pmdcs: PMDCS, ipv6: false, initial_window: InitialWindow::Packets(10), ssthresh: None, seed: 0 }
}

fn hystart() -> HyStart {
    HyStart::new(Box::new(Reno::new(&path(), RenoParameters { slow_start_limit: 8 })))
}

/// A controller and the time.
struct Bench {
    hystart: HyStart,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        Self { hystart: hystart(), now: Instant::ZERO + Duration::from_secs(1) }
    }

    /// One SACK for a packet that took `rtt`.
    fn sack(&mut self, rtt: Option<Duration>) {
        self.hystart.on_acked(&Acked { rtt, ..Acked::of(self.now, PMDCS) });
    }

    /// A round with so many SACKs, all at its end. Returns by how many bytes the window grew.
    fn round(&mut self, rtt: Duration, sacks: u32) -> usize {
        self.now += rtt;
        let before = self.hystart.cwnd();
        (0..sacks).for_each(|_| self.sack(Some(rtt)));
        self.hystart.cwnd() - before
    }

    fn is_over(&self) -> bool {
        self.hystart.ssthresh() < LARGEST_WINDOW
    }
}

#[test]
fn while_nothing_queues_it_is_slow_start() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        assert_eq!(bench.round(40 * MS, 10), 10 * PMDCS);
    }
    assert!(!bench.is_over());
}

/// RFC 9406 §4.2: a rise by an eighth makes slow start conservative, and five rounds of that end it.
#[test]
fn a_rise_ends_slow_start_in_five_rounds() {
    let mut bench = Bench::new();
    bench.round(80 * MS, 10);
    bench.round(80 * MS, 10);
    // The eighth measurement tells, and its SACK already counts a quarter.
    assert_eq!(bench.round(90 * MS, 10), 7 * PMDCS + 3 * PMDCS / 4);
    for _ in 0..4 {
        assert_eq!(bench.round(90 * MS, 10), 10 * PMDCS / 4);
        assert!(!bench.is_over());
    }
    let cwnd = bench.hystart.cwnd();
    bench.round(90 * MS, 1);
    assert_eq!(bench.hystart.ssthresh(), cwnd);
    // What follows is congestion avoidance: one packet a window.
    bench.round(90 * MS, 1);
    assert_eq!(bench.round(90 * MS, 10), 0);
}

/// RFC 9406 §4.2: max(4 ms, min(last / 8, 16 ms)).
#[test]
fn what_counts_as_a_rise() {
    for (last, rise) in [(8, 4), (32, 4), (80, 10), (128, 16), (400, 16)] {
        for (short, expected) in [(MS, false), (Duration::ZERO, true)] {
            let mut bench = Bench::new();
            bench.round(last * MS, 10);
            bench.round((last + rise) * MS - short, 10);
            assert_eq!(bench.hystart.rounds.conservative.is_some(), expected, "{rise} ms over {last} ms");
        }
    }
}

/// RFC 9406 §4.3: N_RTT_SAMPLE.
#[test]
fn seven_measurements_say_nothing() {
    let mut bench = Bench::new();
    bench.round(80 * MS, 10);
    assert_eq!(bench.round(200 * MS, 7), 7 * PMDCS);
    assert!(bench.hystart.rounds.conservative.is_none());
}

/// Karn's rule: SACKs that measure nothing.
#[test]
fn without_measurements_it_is_slow_start() {
    let mut bench = Bench::new();
    bench.round(80 * MS, 10);
    for _ in 0..100 {
        bench.now += 500 * MS;
        bench.sack(None);
    }
    assert!(bench.hystart.rounds.conservative.is_none() && !bench.is_over());
}

/// RFC 9406 §4.2: "if the current round's minRTT drops below baseline … resume slow start".
#[test]
fn a_rise_that_was_jitter_is_forgotten() {
    let mut bench = Bench::new();
    bench.round(80 * MS, 10);
    bench.round(100 * MS, 10);
    assert!(bench.hystart.rounds.conservative.is_some());
    bench.round(80 * MS, 10);
    assert!(bench.hystart.rounds.conservative.is_none());
    assert_eq!(bench.round(80 * MS, 10), 10 * PMDCS);
}

/// RFC 9406 §4.3: only while ssthresh has its initial value.
#[test]
fn a_loss_ends_it() {
    let mut bench = Bench::new();
    bench.round(80 * MS, 10);
    bench.hystart.on_fast_retransmit();
    assert_eq!((bench.hystart.cwnd(), bench.hystart.ssthresh()), (10 * PMDCS, 10 * PMDCS));
    bench.hystart.on_timeout();
    assert_eq!(bench.round(300 * MS, 10), 5 * PMDCS, "up to ssthresh, whatever the round-trip time says");
}

/// A window that a handover brings belongs to another network than what was measured.
#[test]
fn an_installed_window_begins_without_measurements() {
    let mut bench = Bench::new();
    bench.round(80 * MS, 10);
    bench.round(80 * MS, 10);
    bench.hystart.install(10 * PMDCS, LARGEST_WINDOW);
    assert_eq!(bench.round(300 * MS, 10), 10 * PMDCS);
    assert!(bench.hystart.rounds.conservative.is_none());
}

/// RFC 9438 §4.10: it is slow start of any controller that ends, and CUBIC goes on from the window it has then.
#[test]
fn it_ends_the_slow_start_of_cubic() {
    let cubic = Cubic::new(&path(), CubicParameters { slow_start_limit: 8 });
    let mut bench = Bench { hystart: HyStart::new(Box::new(cubic)), ..Bench::new() };
    bench.round(80 * MS, 10);
    bench.round(80 * MS, 10);
    (0..6).for_each(|_| _ = bench.round(90 * MS, 10));
    assert!(bench.is_over());
    let cwnd = bench.hystart.cwnd();
    assert!(bench.round(90 * MS, 10) < PMDCS, "a plateau, not slow start, at {cwnd}");
}
