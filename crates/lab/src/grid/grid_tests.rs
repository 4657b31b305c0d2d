use super::fairness::jain;
use super::*;
use crate::experiment::Axes;

const CLEAN: Place = Place { rate: 10, rtt: 20, queue: 1.0, trouble: Trouble::Loss(0.0) };

fn run(contender: Contender, place: Place, seed: u64) -> Sample {
    let cell = Cell { series: contender.name().into(), axes: place.axes() };
    let mut outcome = Grid::few().run(&cell, seed, Watch::default());
    outcome.samples.remove(0)
}

fn metric(sample: &Sample, name: &str) -> f64 {
    sample.metrics.iter().find(|(known, _)| known == name).map(|(_, value)| *value).unwrap_or(f64::NAN)
}

#[test]
fn cells_say_where_they_are() {
    for experiment in experiments() {
        let cells = experiment.cells();
        let keys: std::collections::BTreeSet<String> = cells.iter().map(Cell::label).collect();
        assert_eq!(keys.len(), cells.len(), "{}", experiment.name());
        for cell in &cells {
            let place = Place::of(cell).expect("a place");
            assert_eq!(place.axes(), cell.axes);
        }
        for column in experiment.axes().iter().chain(&experiment.metrics()) {
            assert!(!experiment.meaning(column).definition.is_empty(), "{column}");
        }
    }
    // 5 round trips, 3 queues, 6 troubles, 2 profiles; 4 contenders.
    assert_eq!(Grid::of_rate(100).cells().len(), (5 * 3 * 6 + 2) * 4);
}

/// 100 Mbit/s and 50 ms are 417 packets, which ten double to in six round trips.
#[test]
fn half_the_rate_may_take_so_many_round_trips() {
    let place = Place { rate: 100, rtt: 50, ..CLEAN };
    assert_eq!(place.half_rate_limit(), Duration::from_millis(8 * 50));
    assert_eq!(Place { rate: 1000, rtt: 300, ..CLEAN }.half_rate_limit(), Duration::from_millis(14 * 300));
}

#[test]
fn jains_index() {
    assert!((jain(&[3.0; 4]) - 1.0).abs() < 1e-12);
    assert!((jain(&[1.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
}

/// Without trouble each fills the bottleneck but for its headers, and gets there in time.
#[test]
fn without_trouble_all_fill_the_bottleneck() {
    for (contender, least) in [(Contender::Mobile, 0.9), (Contender::Reno, 0.9), (Contender::TcpCubic, 0.98)]
    {
        let sample = run(contender, CLEAN, 1);
        let filled = metric(&sample, "goodput") / 10.0 * 1500.0 / contender.payload() as f64;
        assert!((least..1.001).contains(&filled), "{contender:?}: {filled} {sample:?}");
        assert!(
            metric(&sample, "half_rate") <= metric(&sample, "half_rate_limit"),
            "{contender:?}: {sample:?}"
        );
        assert!(metric(&sample, "queueing_max") <= 0.0201, "{contender:?}: {sample:?}");
    }
}

#[test]
fn a_run_is_its_seed() {
    let place = Place { trouble: Trouble::Loss(0.01), ..CLEAN };
    let [first, second] = [0; 2].map(|_| run(Contender::TcpCubic, place, 1));
    assert_eq!(first, second);
    assert_ne!(first, run(Contender::TcpCubic, place, 2));
    let filled = metric(&first, "goodput") / place.bound();
    assert!((0.2..0.9).contains(&filled), "losses cost something: {first:?}");
}

/// The rate of a satellite's cell and of an access point is in the mean what the cell says.
#[test]
fn profiles_have_the_rate_of_their_cell() {
    for trouble in [Trouble::Leo, Trouble::Wifi] {
        let place = Place { rate: 10, rtt: 40, queue: 4.0, trouble };
        let sample = run(Contender::TcpCubic, place, 1);
        let filled = metric(&sample, "goodput") / 10.0 * 1500.0 / 1460.0;
        assert!((0.7..1.001).contains(&filled), "{trouble:?}: {filled}");
    }
}

#[test]
fn flows_share_a_bottleneck() {
    let fairness = Fairness::default();
    let axes: Axes = Place { rate: 10, ..CLEAN }.axes();
    let cell = Cell { series: "1 mobile + 1 tcp-reno".into(), axes };
    let outcome = fairness.run(&cell, 1, Watch::default());
    let sample = &outcome.samples[0];
    assert!((0.7..1.001).contains(&metric(sample, "jain")), "{sample:?}");
    assert!((0.85..1.0).contains(&metric(sample, "used")), "{sample:?}");
    let both = metric(sample, "first") + metric(sample, "second");
    assert!((both - 2.0).abs() < 1e-9, "{sample:?}");
}

/// Where each packet is as likely to be lost as any other, two coupled paths take what one TCP connection does, and two that are not take twice that.
#[test]
fn coupled_paths_take_the_share_of_one_connection() {
    let fairness = Fairness::default();
    let place = Place { rate: 20, rtt: 100, trouble: Trouble::Loss(0.001), ..CLEAN };
    const SEEDS: u64 = 4;
    let beside_tcp = |ours: Contender| {
        let cell = Cell { series: format!("1 {} + 1 tcp-reno", ours.name()).into(), axes: place.axes() };
        let share = |seed| {
            let outcome = fairness.run(&cell, seed, Watch::default());
            let sample = &outcome.samples[0];
            metric(sample, "first") / metric(sample, "second")
        };
        (1..=SEEDS).map(share).sum::<f64>() / SEEDS as f64
    };
    for (ours, share) in [
        (Contender::RenoOnTwo, 1.7..2.5),
        // It grows by what the larger of two windows that rise and fall in turn is owed.
        (Contender::Lia, 1.0..1.4),
        (Contender::Olia, 0.8..1.2),
        (Contender::ResourcePooling, 0.8..1.2),
    ] {
        let found = beside_tcp(ours);
        assert!(share.contains(&found), "{ours:?}: {found}");
    }
}

/// What overflows a short queue of a long path leaves more gaps than a SACK has room for. What it leaves out was taken for dropped, for late, and for
/// round trips of seconds: the first of these transfers had 7 Mbit/s, the second 3.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "two minutes of 100 Mbit/s, with checks after each step; runs with --release"
)]
fn more_gaps_than_a_sack_tells_of_stop_nothing() {
    let cases = [
        (Place { rate: 100, rtt: 300, queue: 0.1, trouble: Trouble::Jitter }, 3, 0.6),
        (Place { rate: 100, rtt: 300, queue: 1.0, trouble: Trouble::Loss(0.001) }, 950_000_000, 0.7),
    ];
    for (place, seed, least) in cases {
        let sample = run(Contender::Mobile, place, seed);
        let filled = metric(&sample, "goodput") / place.rate as f64;
        let again = metric(&sample, "retransmitted");
        assert!(filled > least && again < 0.04, "{place:?}, seed {seed}: {sample:?}");
    }
}

/// What comes in another order is neither lost nor has the receiver dropped it: SACKs that were overtaken looked like that, so that the same bytes were
/// counted as delivered again and again, and BBR sent ten times what the path carries.
#[test]
fn disorder_is_no_loss() {
    let cases = [
        (12, Trouble::Disorder(20), 0.85, 0.06),
        (12, Trouble::Disorder(100), 0.4, 0.03),
        (12, Trouble::Late(30, 200), 0.3, 0.04),
        (100, Trouble::Late(5, 20), 0.8, 0.02),
    ];
    for (rate, trouble, least, most_sent_again) in cases {
        let place = Place { rate, trouble, ..CLEAN };
        for seed in 1..=3 {
            let sample = run(Contender::Mobile, place, seed);
            let filled = metric(&sample, "goodput_settled") / rate as f64;
            let again = metric(&sample, "retransmitted");
            assert!(filled > least && again < most_sent_again, "{place:?}, seed {seed}: {sample:?}");
        }
    }
}
