use crate::transfer::protocol::Outcome;

use super::*;

fn report(outcome: Outcome, text: &str) -> FileReport {
    FileReport { name: "f".into(), size: 2_000_000, resumed: 0, outcome, text: text.into(), hash: None }
}

#[test]
fn outcomes_say_what_to_do() {
    assert!(explain(&report(Outcome::Exists, "")).contains("--overwrite"));
    assert_eq!(
        explain(&report(Outcome::NoSpace, "5 bytes needed")),
        "the receiver's disk is full: 5 bytes needed"
    );
    assert_eq!(explain(&report(Outcome::Failed, "no\x1bpe")), "the receiver cannot store it: no\\u{1b}pe");
    assert_eq!(explain(&report(Outcome::Verified, "saved as f.1")), "2.00 MB: saved as f.1");
}

#[test]
fn the_rate_follows_the_bytes() {
    let start = Instant::now();
    let mut state = State { started: start, last: start, last_bytes: 0, rate: 0.0, listed: 0 };
    let now = start + Duration::from_secs(2);
    assert_eq!(state.measure(now, 2_000_000), 1_000_000.0);
    let moment = Duration::from_millis(40);
    assert_eq!(state.measure(now + moment, 3_000_000), 1_000_000.0, "not from a moment's worth of bytes");
    assert_eq!(state.measure(now + Duration::from_secs(2), 8_000_000), 3_000_000.0);
}
