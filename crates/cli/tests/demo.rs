//! `whimbrel demo`, as a user runs it.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use common::{events, whimbrel};
use tempfile::TempDir;

#[test]
#[ignore = "takes 15 seconds and wants an idle machine"]
fn the_demo_survives_its_cut_and_draws_its_page() {
    let directory = TempDir::new().unwrap();
    let page = directory.path().join("page.html");
    let started = std::time::Instant::now();
    let output = whimbrel()
        .args([
            "demo",
            "--json",
            "--out",
            page.to_str().unwrap(),
            "--capture",
            directory.path().to_str().unwrap(),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(started.elapsed().as_secs() < 20);
    let summary = events(&output, "summary").remove(0);
    assert_eq!((&summary["verified"], &summary["bytes"]), (&true.into(), &40_000_000.into()));
    // A retransmission timeout is what it takes to notice; seconds would mean that nothing moved to the other path.
    let gap = summary["gap_ms"].as_f64().unwrap();
    assert!((100.0..2000.0).contains(&gap), "{gap} ms");
    assert_eq!(events(&output, "cut").len(), 1);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<title>Whimbrel") && page.len() > 100_000);
    for name in ["wifi", "lte"] {
        let capture = directory.path().join(format!("whimbrel-demo-{name}.pcapng"));
        assert!(capture.metadata().unwrap().len() > 1_000_000);
    }
}
