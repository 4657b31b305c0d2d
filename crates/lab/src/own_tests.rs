use super::load;
use crate::experiment::{Experiment, Watch};

const EXAMPLES: [(&str, &str); 3] = [
    ("commute", include_str!("../../../docs/lab/commute.toml")),
    ("lift", include_str!("../../../docs/lab/lift.toml")),
    ("warning", include_str!("../../../docs/lab/warning.toml")),
];

fn metric(experiment: &dyn Experiment, series: &str, at: f64, metric: &str) -> f64 {
    let cells = experiment.cells();
    let fits = |cell: &&crate::Cell| cell.series == series && cell.axes[0].1.number() == Some(at);
    let outcome = experiment.run(cells.iter().find(fits).unwrap(), 1, Watch::default());
    outcome.samples[0].metrics.iter().find(|(name, _)| name == metric).unwrap().1
}

#[test]
fn the_examples_can_be_run_and_show_what_they_say() {
    for (name, text) in EXAMPLES {
        let experiment = load(name, text).unwrap();
        assert!(!experiment.plots().is_empty() && experiment.cells().len() >= 8, "{name}");
    }
    let warning = load("warning", EXAMPLES[2].1).unwrap();
    let silence = |at| metric(&*warning, "seamless", at, "longest_silence");
    // Two seconds are enough to move; a warning that comes after the end is worth nothing.
    assert!(silence(10.0) < 0.15 && silence(13.0) > 0.2, "{} {}", silence(10.0), silence(13.0));
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let good = EXAMPLES[2].1;
    let cases = [
        ("kind = \"wlan\"", "kind = \"radio\"", "unknown variant"),
        ("network = \"wifi\"", "network = \"wimax\"", "no network called wimax"),
        ("event.0.at", "event.7.at", "nothing at event.7.at"),
        ("delay = 5", "delays = 5", "unknown field"),
        ("duration = 30", "duration = 0", "duration between"),
        ("[10.0, 11.0", "[\"soon\", 11.0", "invalid type"),
    ];
    for (from, to, expected) in cases {
        let Err(error) = load("mine", &good.replace(from, to)) else { panic!("{to} was taken") };
        assert!(error.to_string().contains(expected), "{to}: {error}");
    }
}
