use core::time::Duration;
use std::collections::BTreeSet;

use super::*;

/// What the format asks for: a family is announced once, before its samples, and every line is a comment or a sample.
#[test]
fn the_text_is_in_the_exposition_format() {
    let mut metrics = Metrics { packets_sent: 12, ..Metrics::default() };
    metrics.totals.round_trips.record(Duration::from_millis(3));
    metrics.totals.round_trips.record(Duration::from_secs(60));
    let text = metrics.prometheus();
    let (mut families, mut current) = (BTreeSet::new(), "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(families.insert(name) && ["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            current = name;
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with(current) && value.parse::<f64>().is_ok(), "{line}");
        }
    }
    for line in [
        "whimbrel_packets_sent_total 12",
        "whimbrel_round_trip_seconds_bucket{le=\"0.002\"} 0",
        "whimbrel_round_trip_seconds_bucket{le=\"0.005\"} 1",
        "whimbrel_round_trip_seconds_bucket{le=\"10\"} 1",
        "whimbrel_round_trip_seconds_bucket{le=\"+Inf\"} 2",
        "whimbrel_round_trip_seconds_sum 60.003",
        "whimbrel_round_trip_seconds_count 2",
        "whimbrel_associations{state=\"established\"} 0",
        "whimbrel_packets_dropped_total{reason=\"checksum\"} 0",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} in\n{text}");
    }
}
