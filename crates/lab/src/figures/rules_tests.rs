use super::*;
use crate::claims::Claims;
use crate::experiment::{Cell, PAPER, Sample, Watch};

fn experiment(name: &str) -> Box<dyn Experiment> {
    named(&Papers::load().unwrap(), &[name.to_owned()]).unwrap().remove(0)
}

fn run(experiment: &dyn Experiment, cell: &Cell) -> Sample {
    experiment.run(cell, experiment.seed(0), Watch::default()).samples.remove(0)
}

fn metric(sample: &Sample, name: &str) -> Option<f64> {
    sample.metrics.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
}

fn cell(experiment: &dyn Experiment, series: &str, at: &[(&str, f64)]) -> Cell {
    let fits =
        |cell: &&Cell| cell.series == series && at.iter().all(|&(axis, value)| cell.number(axis) == value);
    experiment.cells().iter().find(fits).unwrap().clone()
}

/// What the checks look at is measured by some experiment.
#[test]
fn no_claim_is_left_out() {
    let all = all(&Papers::load().unwrap()).unwrap();
    let measured = |name: &str| {
        let Some((scenario, metric)) = name.split_once('.') else { return true };
        let mut of_scenario = all.iter().filter(|experiment| experiment.is_of(scenario));
        of_scenario.any(|experiment| experiment.metrics().iter().any(|known| known == metric))
    };
    let claims = Claims::load().unwrap();
    for claim in claims.all() {
        let of_these = |word: &&str| {
            ["b08-", "b09-", "c04-", "d10-", "e13-"].iter().any(|paper| word.starts_with(paper))
        };
        let names = claim.check.split('"').filter(of_these);
        for name in names {
            assert!(measured(name), "{}: {name}", claim.id);
        }
    }
}

/// b08 equations 1 and 2.
#[test]
fn timers_alone_take_as_long_as_the_equation_says() {
    let experiment = experiment("b08_eq3");
    for (rto, pmr, expected) in [(0.02, 0.0, 0.02), (0.05, 2.0, 0.35), (1.0, 6.0, 123.0)] {
        let sample = run(&*experiment, &cell(&*experiment, PAPER, &[("rto", rto), ("pmr", pmr)]));
        let measured = metric(&sample, "t_fail").unwrap();
        assert!((measured / expected - 1.0).abs() < 1e-3, "RTO {rto}, PMR {pmr}: {measured}");
        assert_eq!(metric(&sample, "rto_seq_ok"), Some(1.0));
    }
}

#[test]
fn every_rule_of_address_management_is_obeyed() {
    let experiment = experiment("c04_amm");
    let cells = experiment.cells();
    assert_eq!(cells.len(), 17);
    for cell in &cells {
        assert_eq!(metric(&run(&*experiment, cell), "ok"), Some(1.0), "{}", cell.label());
    }
    let stranger = Cell::paper(vec![("case".into(), "no-such-case".into())]);
    assert_eq!(metric(&run(&*experiment, &stranger), "ok"), None);
}

#[test]
fn rules_of_address_reconfiguration_are_obeyed() {
    let experiment = experiment("b08_dar");
    let cells = experiment.cells();
    assert_eq!(cells.len(), 15);
    for cell in &cells {
        let sample = run(&*experiment, cell);
        assert_eq!(metric(&sample, "ok"), Some(1.0), "{}: {sample:?}", cell.label());
    }
    let scenario_c = cells.iter().find(|cell| cell.word("case") == "C").unwrap();
    let outcome = experiment.run(scenario_c, experiment.seed(0), Watch::default());
    let steps: Vec<_> = outcome.samples[1..].iter().map(|sample| sample.axes[0].1.to_string()).collect();
    assert_eq!(steps, ["s1", "s2", "s3", "s4", "s5", "s6", "s7"]);
}

#[test]
fn to_and_fro_changes_nothing_unless_it_goes_too_far() {
    let experiment = experiment("c04_pingpong");
    let at = [("speed", 28.0), ("wired_ms", 5.0), ("primary_th", 3.794)];
    let changes =
        |series| metric(&run(&*experiment, &cell(&*experiment, series, &at)), "primary_changes").unwrap();
    assert_eq!(changes(PAPER), 0.0);
    assert!(changes("farther") > 50.0);
}

/// What the correspondent node learns, and when, if nothing but a probe tells it of losses.
#[test]
fn a_probe_tells_of_losses_before_a_timer_does() {
    let experiment = experiment("c04_probe");
    let run = |series: &str, probe: &str, full: &str| {
        let fits = |cell: &&Cell| {
            cell.series == series && cell.word("probe") == probe && cell.word("rwnd_full") == full
        };
        let sample = run(&*experiment, experiment.cells().iter().find(fits).unwrap());
        println!("{series}, probe {probe}, window full {full}: {:?}", sample.metrics);
        sample
    };
    for (probe, full) in [("on", "yes"), ("on", "no"), ("off", "yes"), ("off", "no")] {
        let sample = run(PAPER, probe, full);
        assert_eq!(metric(&sample, "rtx_on_old"), Some(0.0));
        if probe == "on" {
            assert!((metric(&sample, "probe_rto").unwrap() - 3.0).abs() < 1e-6);
            assert_eq!(metric(&sample, "probe_is_new"), Some(1.0));
        }
    }
    let (on, off) = (run(PAPER, "on", "yes"), run(PAPER, "off", "yes"));
    let delay = |sample: &Sample| metric(sample, "first_rtx_delay").unwrap();
    assert!(delay(&on) < 0.2 && delay(&off) > 0.3, "{} {}", delay(&on), delay(&off));
    assert_eq!((metric(&on, "probe_is_new"), metric(&on, "recovered_by_t3")), (Some(1.0), Some(0.0)));
    assert_eq!(
        (metric(&off, "new_before_recovery"), metric(&off, "recovered_by_t3")),
        (Some(0.0), Some(1.0))
    );
    assert!(delay(&run(PAPER, "on", "no")) < delay(&run(PAPER, "off", "no")));
    // Where other things tell of them first, a probe only takes its round trip.
    assert!(delay(&run("walk", "on", "yes")) > delay(&run("walk", "off", "yes")));
}

fn word_cell(experiment: &dyn Experiment, at: &[(&str, &str)], number: (&str, f64)) -> Cell {
    let fits = |cell: &&Cell| {
        let words = at.iter().all(|&(axis, word)| cell.word(axis) == word);
        cell.series == PAPER && words && (cell.number(number.0) - number.1).abs() < 1e-9
    };
    experiment.cells().iter().find(fits).unwrap().clone()
}

/// b09 section II: nothing goes to a network before it has answered, nor after it is gone, and what was lost there arrives.
#[test]
fn concurrent_transfer_begins_and_ends_as_it_has_to() {
    let experiment = experiment("b09_fig04");
    for transition in ["fast-slow", "slow-fast"] {
        for kb in [16.0, 256.0] {
            let at = [("transition", transition), ("scheme", "cmt")];
            let sample = run(&*experiment, &word_cell(&*experiment, &at, ("rbuf_kb", kb)));
            assert_eq!(metric(&sample, "data_on_new_before_hback"), Some(0.0), "{transition}, {kb} kB");
            assert_eq!(metric(&sample, "exit_ok"), Some(1.0), "{transition}, {kb} kB");
        }
    }
}

/// b09 section III.B.
#[test]
fn a_potentially_failed_path_is_only_asked() {
    let experiment = experiment("b09_pf");
    for pmr in [1.0, 5.0] {
        let sample = run(&*experiment, &word_cell(&*experiment, &[("pf", "on")], ("pmr", pmr)));
        assert_eq!(metric(&sample, "data_on_pf_path"), Some(0.0));
        assert_eq!(metric(&sample, "timeouts_to_inactive"), Some(pmr + 1.0));
        let per_rto = metric(&sample, "hb_per_rto").unwrap();
        assert!((per_rto - 1.0).abs() < 1e-3, "{per_rto}");
    }
}

/// b09 section III.A: what each algorithm takes away, and what it leaves as it is.
#[test]
fn algorithms_of_concurrent_transfer_do_what_they_are_for() {
    let experiment = experiment("b09_cc");
    let with = |sfr: &str, dac: &str| {
        let at = [("sfr", sfr), ("cuc", "on"), ("dac", dac), ("policy", "rtx-cwnd")];
        run(&*experiment, &word_cell(&*experiment, &at, ("loss", 0.0)))
    };
    let (all, no_sfr, no_dac) = (with("on", "on"), with("off", "on"), with("on", "off"));
    assert_eq!(metric(&all, "spurious_frtx"), Some(0.0));
    assert!(metric(&no_sfr, "spurious_frtx").unwrap() > 100.0);
    assert_eq!(metric(&all, "stale_sack_dropped"), Some(1.0));
    assert_eq!(metric(&no_dac, "legacy_receiver_ok"), Some(1.0));
    assert!(metric(&no_dac, "sacks_per_packet").unwrap() > 0.95);
    let silenced =
        experiment.cells().into_iter().find(|cell| cell.series == "no-i-bit" && cell.word("dac") == "on");
    let per_packet = metric(&run(&*experiment, &silenced.unwrap()), "sacks_per_packet").unwrap();
    assert!((per_packet - 0.5).abs() < 0.01, "every second packet: {per_packet}");
}

/// b08 section 4.2.2.1: where nobody else sends, the answers to the large packets of a train are as far apart as the bottleneck has it, whatever the way back.
#[test]
fn packet_trains_tell_the_capacity() {
    let experiment = experiment("b08_sbpp");
    for cell in experiment.cells() {
        let sample = run(&*experiment, &cell);
        println!("{}: {:?}", cell.label(), sample.metrics);
        if cell.number("cross") > 0.0 {
            continue;
        }
        let (told, valid) = (metric(&sample, "c_est").unwrap(), metric(&sample, "valid_fraction").unwrap());
        assert!(
            (told / cell.number("c2") - 1.0).abs() < 0.05 && valid == 1.0,
            "{}: {sample:?}",
            cell.label()
        );
    }
}

/// b08 section 4.2.2.2.
#[test]
fn the_available_bandwidth_is_an_average_of_windows() {
    let experiment = experiment("b08_westwood");
    for cell in experiment.cells() {
        let sample = run(&*experiment, &cell);
        println!("{}: {:?}", cell.label(), sample.metrics);
        let (rate, window) = (cell.number("rate"), cell.number("rtt").max(0.05));
        assert!((metric(&sample, "window").unwrap() - window).abs() < 0.002, "{}: {sample:?}", cell.label());
        assert!((metric(&sample, "b_est").unwrap() / rate - 1.0).abs() < 0.1, "{}: {sample:?}", cell.label());
    }
}

/// b08 section 4.3.2.2.
#[test]
fn fastest_path_first_obeys_its_rule_and_orders_more() {
    let experiment = experiment("b08_fpf");
    let samples = ["fpf", "rr"].map(|scheduler| {
        let cells = experiment.cells();
        let sample = run(&*experiment, cells.iter().find(|cell| cell.word("sched") == scheduler).unwrap());
        println!("{scheduler}: {:?}", sample.metrics);
        sample
    });
    let [first, turns] = &samples;
    assert_eq!((metric(first, "rule_ok"), metric(turns, "rule_ok")), (Some(1.0), Some(0.0)));
    assert!(metric(first, "reorder_fraction").unwrap() < metric(turns, "reorder_fraction").unwrap());
}
