use super::*;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn rate(westwood: &Westwood) -> Option<u64> {
    westwood.estimate().map(|estimate| estimate.rate)
}

/// From `from` to `to`, in milliseconds, an acknowledgement of 1500 bytes each millisecond: 12 Mbit/s.
fn acknowledge(westwood: &mut Westwood, from: u64, to: u64, round_trip: u64) {
    for millis in from..to {
        westwood.on_acknowledged(at(millis), 1500, Duration::from_millis(round_trip));
    }
}

#[test]
fn a_window_is_a_round_trip_and_fifty_milliseconds_at_least() {
    for (round_trip, window) in [(10, 50), (50, 50), (200, 200)] {
        let mut westwood = Westwood::default();
        acknowledge(&mut westwood, 0, window, round_trip);
        assert_eq!(rate(&westwood), None, "{round_trip} ms");
        acknowledge(&mut westwood, window, window + 1, round_trip);
        let first = rate(&westwood).expect("a window is over");
        // The first of them has only begun it.
        assert_eq!(first, (window - 1) * 12_000 * 1000 / window, "{round_trip} ms");
    }
}

#[test]
fn a_window_counts_for_an_eighth() {
    let mut westwood = Westwood::default();
    acknowledge(&mut westwood, 0, 1001, 10);
    let full = rate(&westwood).unwrap();
    assert!(full.abs_diff(12_000_000) < 20_000, "{full}");
    for millis in [1001, 1051] {
        westwood.on_acknowledged(at(millis), 0, Duration::from_millis(10));
    }
    // The first of these windows has still had one acknowledgement, of the millisecond 1000.
    let expected = full - full / 8 + 240_000 / 8;
    assert!(rate(&westwood).unwrap().abs_diff(expected) < 10, "{:?} instead of {expected}", rate(&westwood));
}

/// Windows follow each other, whether or not anything comes.
#[test]
fn silence_is_measured() {
    let mut westwood = Westwood::default();
    acknowledge(&mut westwood, 0, 1001, 10);
    let before = rate(&westwood).unwrap();
    // A window with next to nothing, and three with nothing at all.
    westwood.on_acknowledged(at(1200), 1500, Duration::from_millis(10));
    let expected = before as f64 * (7.0_f64 / 8.0).powi(4);
    let measured = rate(&westwood).unwrap() as f64;
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} instead of {expected}");
    westwood.on_acknowledged(at(1_000_000_000), 1500, Duration::from_millis(10));
    assert!(rate(&westwood).unwrap() < before / 1000);
}
