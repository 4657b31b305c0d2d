//! `whimbrel perf` over loopback.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use common::{Running, events, whimbrel};

fn server() -> Running {
    Running::listen(&["perf", "server", "--json", "--listen", "127.0.0.1:0"])
}

fn measure(server: &Running, arguments: &[&str]) -> serde_json::Value {
    let output = whimbrel()
        .args(["perf", "client", "--json", "--to", &server.address])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    events(&output, "summary").remove(0)
}

#[test]
fn a_number_of_bytes_is_counted_exactly_in_both_directions() {
    let server = server();
    for direction in [&[][..], &["--reverse"]] {
        let arguments = ["--bytes", "3000000", "--size", "1000", "--streams", "4", "--unordered"];
        let summary = measure(&server, &[&arguments, direction].concat());
        assert_eq!((&summary["bytes"], &summary["messages"]), (&3_000_000.into(), &3000.into()));
        assert!(summary["goodput_bits_per_second"].as_f64().unwrap() > 0.0);
        assert!(summary["cpu_seconds_per_gb"]["both"].as_f64().unwrap() > 0.0);
        assert_eq!(summary["paths"][0]["state"], "active");
    }
}

#[test]
fn time_ends_a_measurement() {
    let server = server();
    let started = std::time::Instant::now();
    let summary = measure(&server, &["--time", "0.5", "--size", "64"]);
    assert!(started.elapsed().as_secs_f64() < 20.0);
    assert!((0.1..10.0).contains(&summary["seconds"].as_f64().unwrap()), "{summary}");
}

#[test]
fn round_trips_are_measured() {
    let server = server();
    let summary = measure(&server, &["--latency", "--time", "0.5"]);
    let times = &summary["round_trip_us"];
    let value = |name: &str| times[name].as_f64().unwrap();
    assert!(value("count") > 10.0 && value("min") > 1.0);
    assert!(value("min") <= value("p50") && value("p50") <= value("p99") && value("p99") <= value("max"));
}
