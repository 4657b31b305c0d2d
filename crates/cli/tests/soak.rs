//! `whimbrel soak` that somebody ends.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use common::{Running, wait_until};
use serde_json::Value;

/// Clock ticks for which a process has had a processor (proc(5)).
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let fields = fields.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// What an interrupted soak says: exit code, stdout and stderr.
fn interrupted(more: &[&str], signal: &str) -> (i32, String, String) {
    let arguments = ["soak", "--worlds", "standing", "--seeds", "1000000", "--jobs", "1"];
    let mut soak = Running::start(&[&arguments, more].concat());
    wait_until("play", || ticks(soak.id()) > 50);
    soak.signal(signal);
    soak.finish()
}

#[test]
fn a_soak_that_is_interrupted_says_what_it_has_played() {
    let (code, output, errors) = interrupted(&["--json"], "INT");
    assert!(code == 130 && errors.contains("interrupted"), "{code} {errors}");
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [summary, error] = lines.as_slice() else { panic!("{output}") };
    assert_eq!((&summary["seeds"], &summary["failed"]), (&1_000_000.into(), &0.into()));
    assert!(summary["worlds"].as_u64().unwrap() < 1_000_000, "{summary}");
    assert_eq!((&error["event"], &error["exit_code"]), (&"error".into(), &130.into()));
    let (code, output, errors) = interrupted(&[], "TERM");
    assert!(code == 130 && errors.contains("interrupted"), "{code} {errors}");
    assert!(output.contains("worlds passed") && output.contains("of 1000000"), "{output}");
}
