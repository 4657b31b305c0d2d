//! The readings against each other and against what the set-up says.

use crate::experiment::{Cell, PAPER, Sample, Watch};
use crate::figures;
use crate::scenario::Papers;
use crate::value::Value;

/// One run of b08's Figure 7 with the seed of the first repetition.
fn run(pair: &str, src: &str, pmr: i64) -> Sample {
    let experiment = figures::named(&Papers::load().unwrap(), &["b08_fig07".to_owned()]).unwrap().remove(0);
    let asked: [(&str, Value); 4] = [
        ("pair", Value::from(pair)),
        ("src", Value::from(src)),
        ("qs", Value::from(10)),
        ("pmr", Value::from(pmr)),
    ];
    let is_asked = |cell: &Cell| {
        cell.series == PAPER
            && asked
                .iter()
                .all(|(axis, value)| cell.axes.iter().any(|(name, at)| name == axis && at == value))
    };
    let cell = experiment.cells().into_iter().find(is_asked).expect("it is in the sweep");
    experiment.run(&cell, experiment.seed(0), Watch::default()).samples.remove(0)
}

fn value(sample: &Sample, metric: &str) -> Option<f64> {
    sample.metrics.iter().find(|(name, _)| name == metric).map(|&(_, value)| value)
}

fn all<const N: usize>(sample: &Sample, metrics: [&str; N]) -> [f64; N] {
    metrics.map(|metric| value(sample, metric).unwrap_or_else(|| panic!("{metric} in {sample:?}")))
}

#[test]
fn new_data_goes_once_the_alternate_is_promoted_and_takes_its_delay() {
    for pmr in 0..=3 {
        let sample = run("wlan-umts", "cbr45", pmr);
        let [decided, sent, received] =
            all(&sample, ["failover_latency", "first_new_sent", "first_new_latency"]);
        assert!(decided <= sent, "{sample:?}");
        // 5 ms of wire and 80 ms of UMTS, and at most two full packets at 384 kbit/s: what was lost goes first.
        assert!((0.085..0.085 + 2.0 * 0.032).contains(&(received - sent)), "{sample:?}");
    }
}

#[test]
fn gaps_begin_with_the_last_packet_before_the_break() {
    let sample = run("wlan-umts", "cbr45", 2);
    let [received, to_any, to_new] = all(&sample, ["first_new_latency", "gap_to_any", "gap_to_new"]);
    // A message of 200 bytes at 45 kbit/s every 36 ms.
    assert!((0.0..0.036).contains(&(to_new - received)), "{sample:?}");
    assert!(to_any < to_new, "{sample:?}");
}

/// What is sent again after the first timeout ends the silence, however many timeouts the path has left.
#[test]
fn path_max_retrans_lengthens_the_gap_to_new_data_alone() {
    let gaps = |pmr| all(&run("wlan-umts", "cbr45", pmr), ["gap_to_any", "gap_to_new"]);
    let ([any_1, new_1], [any_3, new_3]) = (gaps(1), gaps(3));
    assert_eq!(any_1, any_3);
    assert!(new_3 > 2.0 * new_1, "{new_1} {new_3}");
}

#[test]
fn who_leaves_before_the_break_has_no_latency() {
    let sample = run("umts-wlan", "bulk", 0);
    assert_eq!(value(&sample, "spurious_fraction"), Some(1.0));
    assert!(value(&sample, "t3_before_break").is_some_and(|timeouts| timeouts > 0.0), "{sample:?}");
    assert_eq!(value(&sample, "failover_latency").or(value(&sample, "gap_to_any")), None);
}
