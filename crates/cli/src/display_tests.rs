use crate::transfer::protocol::Outcome;

use super::*;

fn report(outcome: Outcome, text: &str) -> FileReport {
    FileReport {
        name: "f".into(),
        name_bytes: None,
        location: None,
        size: 2_000_000,
        resumed: 0,
        outcome,
        text: text.into(),
        hash: None,
    }
}

#[test]
fn outcomes_say_what_to_do() {
    assert!(explain(&report(Outcome::Exists, "")).contains("--overwrite"));
    assert_eq!(
        explain(&report(Outcome::NoSpace, "5 bytes needed")),
        "the receiver has no room for it: 5 bytes needed"
    );
    assert_eq!(explain(&report(Outcome::Failed, "no\x1bpe")), "the receiver cannot store it: no\\u{1b}pe");
    assert_eq!(explain(&report(Outcome::Verified, "saved as f.1")), "2.00 MB: saved as f.1");
}

#[test]
fn every_failure_has_a_reason() {
    for outcome in [Outcome::Abandoned, Outcome::Busy, Outcome::Failed, Outcome::Corrupt, Outcome::BadName] {
        assert!(!explain(&report(outcome, "")).is_empty(), "{outcome:?}");
    }
    assert_eq!(explain(&report(Outcome::Abandoned, "it changed")), "it changed");
}

#[test]
fn the_summary_tells_what_was_there_from_what_was_moved() {
    let totals =
        Totals { done_files: 2, confirmed_bytes: 9_000_000, before_bytes: 5_000_000, ..Totals::default() };
    let text = sum_up("sent", &totals, Duration::from_secs(2));
    assert_eq!(text, "sent 2 files, 9.00 MB in 2.0 s (2.00 MB/s), of which 5.00 MB were there before");
    // What was only handed to the network is not told of.
    let totals = Totals {
        done_files: 1,
        done_bytes: 7_000_000,
        moved_bytes: 7_000_000,
        failed_files: 1,
        ..Totals::default()
    };
    assert_eq!(
        sum_up("sent", &totals, Duration::from_secs(1)),
        "sent 1 file, 1 failed, 0 B in 1.0 s (0 B/s)"
    );
    // Of a moment no rate is made.
    let totals = Totals { done_files: 1, confirmed_bytes: 8, ..Totals::default() };
    assert_eq!(sum_up("sent", &totals, Duration::from_micros(10)), "sent 1 file, 8 B in 0.0 s");
}

/// A receiver waits for hours between two senders.
#[test]
fn time_counts_while_something_is_under_way() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut state = State::new(start);
    state.end(at(3600));
    state.begin(at(3600));
    state.begin(at(3601));
    state.end(at(3604));
    state.end(at(9000));
    state.begin(at(9000));
    state.end(at(9001));
    assert_eq!(state.busy, Duration::from_secs(5));
}

#[test]
fn the_rate_follows_the_bytes() {
    let start = Instant::now();
    let mut state = State::new(start);
    let now = start + Duration::from_secs(2);
    assert_eq!(state.measure(now, 2_000_000), 1_000_000.0);
    let moment = Duration::from_millis(40);
    assert_eq!(state.measure(now + moment, 3_000_000), 1_000_000.0, "not from a moment's worth of bytes");
    assert_eq!(state.measure(now + Duration::from_secs(2), 8_000_000), 3_000_000.0);
}
