//! Whether runs still go as they went.

use super::{ALTERED, GOLDEN, LONG};
use crate::claims::Claims;
use crate::experiment::{Experiment, Outcome, PAPER, Watch};
use crate::figures;
use crate::scenario::Papers;
use crate::scheme::{POLICY_ALONE, PROFILE_ALONE};
use crate::sensitivity::{self, AS_ASSUMED, Altered};

/// As [`GOLDEN`], of series on which no verdict rests: what is tried with other assumptions does not hang on them.
const APART: [(&str, &str, usize, u64); 4] = [
    ("b08_fig07", PROFILE_ALONE, 312, 0x41d4_8c64_8ab6_4d12),
    ("b08_fig07", POLICY_ALONE, 350, 0x58a2_e9da_4c47_50ce),
    ("c04_fig10", PROFILE_ALONE, 83, 0xb4d6_7a9a_e68b_8f68),
    ("c04_fig10", POLICY_ALONE, 103, 0x3886_2d49_5c87_9f8c),
];

/// Of what happened, or of what was measured where there is no network in which anything could.
fn fingerprint(outcome: &Outcome) -> u64 {
    if outcome.fingerprint != 0 {
        return outcome.fingerprint;
    }
    let values = outcome.samples.iter().flat_map(|sample| &sample.metrics).map(|(_, value)| value.to_bits());
    values.fold(0xcbf2_9ce4_8422_2325, |hash, bits| (hash ^ bits).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn fingerprints_are_as_they_were() {
    let golden: Vec<_> = GOLDEN.into_iter().chain(APART).collect();
    are_as_they_were(&golden);
}

#[test]
#[ignore = "two thousand seconds of fifty stations; CONTRIBUTING.md has the command"]
fn fingerprints_of_long_runs_are_as_they_were() {
    are_as_they_were(&LONG);
}

fn are_as_they_were(golden: &[(&str, &str, usize, u64)]) {
    let papers = Papers::load().unwrap();
    let mut now = Vec::new();
    for &(name, series, number, _) in golden {
        let experiment = figures::named(&papers, &[name.to_owned()]).unwrap().remove(0);
        let cell = &experiment.cells()[number];
        let once = experiment.run(cell, experiment.seed(0), Watch::fingerprint());
        assert_eq!(cell.series, series, "{name} {number}");
        assert!(once.samples.iter().any(|sample| !sample.metrics.is_empty()), "{name} measured nothing");
        now.push((name, series, number, fingerprint(&once)));
    }
    assert_eq!(now, golden, "{now:#x?}");
}

/// The run in a cell with what is changed, and as assumed.
fn altered_run(altered: &Altered, label: &str, number: usize) -> [u64; 2] {
    [label, AS_ASSUMED].map(|label| {
        let cells = altered.cells();
        let cell = cells.iter().filter(|cell| cell.word("assumption") == label).nth(number).unwrap();
        fingerprint(&altered.run(cell, altered.seed(0), Watch::fingerprint()))
    })
}

#[test]
fn runs_with_another_choice_are_as_they_were() {
    let papers = Papers::load().unwrap();
    let all = sensitivity::experiments(&papers, &Claims::load().unwrap()).unwrap();
    let now = ALTERED.map(|(name, changed, number, _)| {
        let altered = all.iter().find(|one| one.experiment().name() == name).unwrap();
        let label = altered.alternatives().find(|label| label.ends_with(changed) && !label.contains("; "));
        let label = label.unwrap_or_else(|| panic!("{name} has nothing that ends with {changed}"));
        let [with, without] = altered_run(altered, label, number);
        assert_ne!(with, without, "{name}: {changed} changes nothing in cell {number}");
        (name, changed, number, with)
    });
    assert_eq!(now, ALTERED, "{now:#x?}");
}

/// Whatever choice is tried, and is no axis, one of its runs is among them.
#[test]
fn every_choice_has_a_golden_run() {
    let papers = Papers::load().unwrap();
    for alternative in crate::assumptions::Assumptions::load(&papers).unwrap().alternatives {
        let is_known = ALTERED.iter().any(|(_, changed, ..)| alternative.label.ends_with(changed));
        assert!(
            !alternative.is_choice() || alternative.changes.len() > 1 || is_known,
            "{}",
            alternative.label
        );
    }
}

/// Whatever experiment there is, one of its cells is among them.
#[test]
fn every_experiment_has_a_golden_cell() {
    for experiment in figures::all(&Papers::load().unwrap()).unwrap() {
        let name = experiment.name();
        let has =
            |series: &str| GOLDEN.iter().chain(&LONG).any(|(known, of, ..)| *known == name && *of == series);
        assert!(has(PAPER), "{name}");
    }
}
