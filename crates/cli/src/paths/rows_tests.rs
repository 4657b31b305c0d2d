use std::time::Duration;

use serde_json::json;

use super::*;

/// One process with one association and two paths; `sent` on the first.
pub(in super::super) fn reports(sent: u64) -> Answers {
    let path = |id: u32, local: &str, state: &str, in_use: bool| {
        json!({
            "id": id, "local": local, "remote": "203.0.113.1:9899", "interface": format!("if{id}"),
            "signal_dbm": (id == 1).then_some(-97.4), "metered": id == 1, "state": state, "primary": in_use,
            "in_use": in_use, "srtt_ms": 12.34, "rto_ms": 200.0, "cwnd": 15_000, "flight_size": 0,
            "bytes_sent": if id == 0 { sent } else { 0 }, "bytes_received": 0,
            "capacity_bits_per_second": (id == 0).then_some(20_000_000), "available_bits_per_second": (id == 0).then_some(9_400_000),
        })
    };
    let paths = [
        path(0, "192.0.2.7:9899", "active", true),
        path(1, "198.51.100.7:9899", "potentially failed", false),
    ];
    let association = json!({
        "id": 3, "local_port": 40000, "remote_port": 7878, "mobility": "dynamic", "paths": paths,
    });
    let report = json!({
        "version": 1, "pid": 4711, "command": "send", "addresses": ["192.0.2.7:9899"], "associations": [association],
    });
    Answers { reports: vec![serde_json::from_value(report).unwrap()], failed: Vec::new() }
}

#[test]
fn a_path_is_a_line() {
    let mut before = Sample::take(reports(0), None);
    before.at = before.at.checked_sub(Duration::from_secs(10)).unwrap();
    let now = Sample::take(reports(12_500_000), Some(&before));
    let text = plain(&now.rows(), &now.failures(), None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    let words = |line: &str| {
        line.split("  ").map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(lines[0]), HEADER);
    let first = words(lines[1]);
    assert_eq!(
        first[..8],
        [
            "4711 send",
            "3 40000→7878",
            "192.0.2.7%if0",
            "203.0.113.1:9899",
            "active",
            "in use, primary",
            "12.3 ms",
            "15 KiB",
        ]
    );
    // Ten seconds and a little, depending on how long the test takes: at most 10 Mbit/s.
    let megabits: f64 = first[8].strip_suffix(" M / 0").unwrap().parse().unwrap();
    assert!(megabits > 0.0 && megabits <= 10.0, "{first:?}");
    assert_eq!(first[9], "9.4 M / 20.0 M");
    assert!(
        lines[2].contains("potentially failed  standby") && lines[2].ends_with("-97 dBm metered"),
        "{text}"
    );
    let tones: Vec<Tone> = now.rows().iter().map(|row| row.tone).collect();
    assert_eq!(tones, [Tone::InUse, Tone::Doubtful]);
}

#[test]
fn programs_get_the_rates_too() {
    let before = Sample::take(reports(0), None);
    assert!(before.to_json()[0]["associations"][0]["paths"][0]["out_bits_per_second"].is_null());
    let now = Sample::take(reports(1000), Some(&before));
    let path = now.to_json()[0]["associations"][0]["paths"][0].clone();
    assert!(
        path["out_bits_per_second"].as_f64().unwrap() > 0.0 && path["in_bits_per_second"] == 0.0,
        "{path}"
    );
}

#[test]
fn nothing_is_said_in_words() {
    assert!(plain(&[], &[], None).starts_with("no associations"));
    let mut answers = reports(0);
    answers.failed = vec![Failed { pid: "7".into(), reason: "does not answer" }];
    let sample = Sample::take(answers, None);
    assert!(plain(&sample.rows(), &sample.failures(), None).ends_with("\nprocess 7 does not answer\n"));
    assert_eq!(
        plain(&[], &sample.failures(), None),
        "process 7 does not answer\n",
        "and not that there is nothing"
    );
}

#[test]
fn rates_are_short() {
    let all = [0.0, 999.0, 1500.0, 54e6, 2.5e9].map(rate);
    assert_eq!(all, ["0", "999", "2 k", "54.0 M", "2.50 G"]);
}

#[test]
fn a_screen_that_is_too_narrow_for_the_table_has_short_lines() {
    let sample = Sample::take(reports(0), None);
    let wide = plain(&sample.rows(), &[], Some(200));
    assert!(wide.starts_with("PROCESS"), "{wide}");
    let text = plain(&sample.rows(), &["process 7 does not answer".into()], Some(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for word in ["4711 send", "192.0.2.7%if0", "potentially failed", "-97 dBm metered", "process 7"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(text.matches("4711 send").count(), 1);
}

#[test]
fn ids_of_later_associations_are_short() {
    assert_eq!([3, 1 << 32, (2 << 32) + 15].map(short), ["3", "0.1", "15.2"]);
}

/// A process of before gateways says nothing of who has ordered a move.
#[test]
fn who_has_ordered_a_move_is_told() {
    let mut answers = reports(0);
    answers.reports[0].associations[0].paths[0].ordered_by_network = true;
    let roles: Vec<String> =
        Sample::take(answers, None).rows().iter().map(|row| row.cells[5].clone()).collect();
    assert_eq!(roles, ["in use, primary, by the network", "standby"]);
}
