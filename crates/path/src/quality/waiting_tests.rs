use core::time::Duration;

use super::{Ended, Waiting};

const SPAN: Duration = Duration::from_millis(250);

/// A span in which so much has arrived per second, and so much waited all the time.
fn span(waiting: &mut Waiting, rate: u64, least: u64) -> Option<Duration> {
    waiting.on_acknowledged(rate / 8, least + 5_000);
    waiting.on_acknowledged(rate / 8, least);
    waiting.close(Ended { lasted: SPAN, steady: true, fills: false })
}

#[test]
fn a_path_that_carries_less_is_to_blame_for_as_long_as_it_does() {
    let mut waiting = Waiting::default();
    assert_eq!(span(&mut waiting, 200_000, 0), None);
    for _ in 0..100 {
        assert_eq!(span(&mut waiting, 100_000, 50_000), Some(Duration::from_millis(500)));
    }
    assert_eq!(span(&mut waiting, 200_000, 100_000), None);
}

/// Slow start: what is carried doubles.
#[test]
fn a_window_that_grows_has_time() {
    let mut waiting = Waiting::default();
    span(&mut waiting, 1_000_000, 0);
    for rate in [0, 100_000, 200_000, 400_000] {
        assert_eq!(span(&mut waiting, rate, if rate == 0 { 0 } else { 500_000 }), None);
    }
    assert!(span(&mut waiting, 400_000, 500_000).is_some());
}

#[test]
fn what_a_path_carried_long_ago_is_forgotten() {
    let mut waiting = Waiting::default();
    span(&mut waiting, 200_000, 0);
    (0..10).for_each(|_| assert_eq!(span(&mut waiting, 10_000, 0), None));
    assert_eq!(span(&mut waiting, 100_000, 50_000), None);
}

#[test]
fn nothing_is_known_of_a_path_that_was_full_from_the_first() {
    let mut waiting = Waiting::default();
    for rate in [1_000_000, 500_000, 100_000, 0] {
        assert_eq!(span(&mut waiting, rate, 4_000_000), None);
    }
}

#[test]
fn a_span_of_no_length_is_borne() {
    let mut waiting = Waiting::default();
    waiting.on_acknowledged(u64::MAX, u64::MAX);
    for lasted in [Duration::ZERO, SPAN] {
        assert_eq!(waiting.close(Ended { lasted, steady: true, fills: false }), None);
    }
}

#[test]
fn what_a_path_carried_while_more_waited_is_its_limit() {
    let mut waiting = Waiting::default();
    assert_eq!((span(&mut waiting, 200_000, 0), waiting.limit()), (None, None));
    span(&mut waiting, 100_000, 50_000);
    assert_eq!((waiting.limit(), waiting.carries()), (None, 100_000), "one may have a stall in it");
    span(&mut waiting, 100_000, 50_000);
    assert_eq!((waiting.limit(), waiting.found_limit()), (Some(100_000), true));
    // Now less is to be sent, and all of that arrives.
    span(&mut waiting, 50_000, 0);
    assert_eq!((waiting.limit(), waiting.found_limit()), (Some(100_000), false));
    assert_eq!(waiting.carries(), 200_000 - 200_000 / 16);
    span(&mut waiting, 113_000, 0);
    assert_eq!(waiting.limit(), None, "it carries more");
}

#[test]
fn what_waits_in_the_network_tells_of_a_limit_too() {
    let close = |fills, steady| {
        let mut waiting = Waiting::default();
        waiting.expect(200_000);
        // At first that may grow yet, and then one may have a stall in it.
        for _ in 0..3 {
            assert_eq!(waiting.limit(), None);
            waiting.on_acknowledged(25_000, 0);
            assert_eq!(waiting.close(Ended { lasted: SPAN, steady, fills }), None);
        }
        waiting.limit()
    };
    assert_eq!(close(true, true), Some(100_000));
    assert_eq!(close(false, true), None, "no more was to be sent");
    assert_eq!(close(true, false), None, "an outage says nothing of what a path carries otherwise");
}

/// In the span in which data comes to a path again little has arrived yet, and all that is to be sent waits.
#[test]
fn a_path_is_not_judged_by_the_span_in_which_data_comes_to_it() {
    let mut waiting = Waiting::default();
    span(&mut waiting, 900_000, 0);
    span(&mut waiting, 800, 0);
    waiting.expect(900_000);
    assert_eq!(span(&mut waiting, 60_000, 8_000_000), None);
    assert_eq!(span(&mut waiting, 900_000, 8_000_000), None);
    // If it stays like that it is the path.
    assert_eq!(span(&mut waiting, 60_000, 600_000), Some(Duration::from_secs(10)));
}

/// ProbeRTT halves the window for 200 ms, and what arrives in the round trip after it left at that pace.
#[test]
fn what_is_held_back_for_a_measurement_says_nothing_of_the_path() {
    let held_back = |waiting: &mut Waiting, rate| {
        waiting.on_held_back();
        span(waiting, rate, 500_000)
    };
    // It is well, and remains so.
    let mut waiting = Waiting::default();
    assert_eq!(span(&mut waiting, 1_000_000, 0), None);
    assert_eq!(held_back(&mut waiting, 500_000), None);
    assert_eq!(span(&mut waiting, 600_000, 500_000), None);
    assert_eq!(waiting.carried(), 1_000_000);
    // It is slow, and remains so.
    let slow = span(&mut waiting, 400_000, 500_000);
    assert!(slow.is_some());
    assert_eq!(held_back(&mut waiting, 200_000), slow);
    assert_eq!(span(&mut waiting, 300_000, 500_000), slow);
    // Nothing is known of a path that was full from the first: a measurement teaches nothing, either.
    let mut waiting = Waiting::default();
    assert_eq!(span(&mut waiting, 1_000_000, 500_000), None);
    assert_eq!(held_back(&mut waiting, 900_000), None);
    assert_eq!(span(&mut waiting, 1_000_000, 500_000), None);
    assert_eq!(span(&mut waiting, 600_000, 500_000), None);
}

/// A host that was suspended answers as soon as it goes on: what has arrived by then took the outage.
#[test]
fn an_outage_is_no_slowness() {
    let after_outage = |waiting: &mut Waiting| {
        waiting.on_acknowledged(100_000, 500_000);
        waiting.close(Ended { lasted: SPAN * 20, steady: false, fills: false })
    };
    let mut waiting = Waiting::default();
    assert_eq!(span(&mut waiting, 1_000_000, 0), None);
    assert_eq!(after_outage(&mut waiting), None);
    assert_eq!(span(&mut waiting, 600_000, 500_000), None, "it grows");
    let slow = span(&mut waiting, 500_000, 500_000);
    assert!(slow.is_some());
    assert_eq!(after_outage(&mut waiting), slow, "that is as it was");
    assert_eq!(span(&mut waiting, 1_000_000, 0), None);
    assert_eq!(after_outage(&mut waiting), None);
}
