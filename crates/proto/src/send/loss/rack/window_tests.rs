use super::*;

const MS: Duration = Duration::from_millis(1);

fn length(window: &ReorderingWindow, certain: bool) -> Duration {
    window.length(40 * MS, 50 * MS, certain)
}

/// RFC 8985 §6.2 step 4: nothing is waited for in Fast Recovery, or behind DupThresh packets, where nothing has come out of order.
#[test]
fn waits_a_quarter_of_the_least_round_trip() {
    let mut window = ReorderingWindow::default();
    assert_eq!((length(&window, false), length(&window, true)), (10 * MS, Duration::ZERO));
    window.on_reordering();
    assert_eq!((length(&window, false), length(&window, true)), (10 * MS, 10 * MS));
}

/// A quarter more for each round trip with a duplicate, up to SRTT; forgotten after 16 recoveries without.
#[test]
fn grows_while_it_is_too_short() {
    let mut window = ReorderingWindow::default();
    window.on_duplicate(Tsn(u32::MAX - 10), Tsn(5));
    window.on_duplicate(Tsn(4), Tsn(50));
    assert_eq!(length(&window, true), 20 * MS, "once in a round trip");
    for round in 1..=4 {
        window.on_duplicate(Tsn(5 * round), Tsn(5 * round + 5));
    }
    assert_eq!(length(&window, true), 50 * MS, "SRTT at most");
    for _ in 0..15 {
        window.on_recovered();
    }
    assert_eq!(length(&window, true), 50 * MS);
    window.on_recovered();
    assert_eq!(length(&window, true), 10 * MS);
}

/// What is late by more than a round trip is waited for as long next time; half a second at most. It is forgotten when no more comes so late.
#[test]
fn learns_how_late_packets_are() {
    let mut window = ReorderingWindow::default();
    window.on_late(120 * MS);
    assert_eq!(length(&window, false), 120 * MS);
    window.on_late(30 * MS);
    assert_eq!(length(&window, false), 120 * MS, "the longest");
    for _ in 0..15 {
        window.on_recovered();
    }
    window.on_late(70 * MS);
    window.on_recovered();
    assert_eq!(length(&window, false), 120 * MS, "disorder goes on");
    for _ in 0..15 {
        window.on_late(20 * MS);
        window.on_recovered();
    }
    assert_eq!(length(&window, false), 10 * MS);
    window.on_late(700 * MS);
    assert_eq!(length(&window, false), 500 * MS);
}
