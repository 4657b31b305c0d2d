//! `whimbrel demo`, as a user runs it.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use common::{events, whimbrel};
use tempfile::TempDir;

#[test]
#[ignore = "takes 15 seconds; ci/test.sh runs the demo itself"]
fn the_demo_survives_its_cut_and_draws_its_page() {
    let directory = TempDir::new().unwrap();
    let page = directory.path().join("page.html");
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
    let summary = events(&output, "summary").remove(0);
    assert_eq!((&summary["verified"], &summary["bytes"]), (&true.into(), &40_000_000.into()));
    println!("{} ms without data", summary["gap_ms"]);
    assert!(!events(&output, "path-in-use").is_empty(), "data moves to the other network");
    assert_eq!(events(&output, "cut").len(), 1);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<title>Whimbrel") && page.len() > 100_000);
    for name in ["wifi", "lte"] {
        let capture = directory.path().join(format!("whimbrel-demo-{name}.pcapng"));
        assert!(capture.metadata().unwrap().len() > 1_000_000);
    }
}
