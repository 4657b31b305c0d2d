use whimbrel_machine::Instant;

use super::*;
use crate::congestion::{InitialWindow, RenoParameters};

/// 10 packets of 1000 bytes in 100 ms are 100 kB/s: twice that in slow start, and 120 % behind it.
#[test]
fn a_window_is_spread_over_a_round_trip() {
    let path = NewPath {
        pmdcs: 1000,
        ipv6: false,
        initial_window: InitialWindow::Packets(10),
        ssthresh: None,
        seed: 0,
    };
    let mut paced = PacedParameters::around(RenoParameters { slow_start_limit: 1 }).controller(&path);
    assert_eq!(paced.pacing(), None, "nothing has been measured");
    let acked = Acked { rtt: Some(Duration::from_millis(100)), ..Acked::of(Instant::ZERO, 0) };
    paced.on_acked(&acked);
    assert_eq!(paced.pacing().unwrap().rate, 200_000);
    paced.undo(10_000, 5000);
    assert_eq!(paced.pacing().unwrap().rate, 120_000);
    paced.install(10_000, 5000);
    assert_eq!(paced.pacing(), None, "it may be another network");
}
