//! Whether runs still go as they went.

use super::GOLDEN;
use crate::experiment::{Outcome, PAPER, Watch};
use crate::figures;
use crate::scenario::Papers;
use crate::scheme::{POLICY_ALONE, PROFILE_ALONE};

/// As [`GOLDEN`], of series on which no verdict rests: what is tried with other assumptions does not hang on them.
const APART: [(&str, &str, usize, u64); 4] = [
    ("b08_fig07", PROFILE_ALONE, 312, 0xd554_edf7_903e_63c1),
    ("b08_fig07", POLICY_ALONE, 350, 0xd17e_6c9d_ea1d_d762),
    ("c04_fig10", PROFILE_ALONE, 83, 0xbbb9_0269_4ba1_6db3),
    ("c04_fig10", POLICY_ALONE, 103, 0x5245_b788_1e7e_5881),
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
    let papers = Papers::load().unwrap();
    let mut now = Vec::new();
    let golden: Vec<_> = GOLDEN.into_iter().chain(APART).collect();
    for &(name, series, number, _) in &golden {
        let experiment = figures::named(&papers, &[name.to_owned()]).unwrap().remove(0);
        let cell = &experiment.cells()[number];
        let once = experiment.run(cell, experiment.seed(0), Watch::fingerprint());
        assert_eq!(cell.series, series, "{name} {number}");
        assert!(once.samples.iter().any(|sample| !sample.metrics.is_empty()), "{name} measured nothing");
        now.push((name, series, number, fingerprint(&once)));
    }
    assert_eq!(now, golden, "{now:#x?}");
}

/// Whatever experiment there is, one of its cells is among them.
#[test]
fn every_experiment_has_a_golden_cell() {
    for experiment in figures::all(&Papers::load().unwrap()).unwrap() {
        let name = experiment.name();
        let has = |series: &str| GOLDEN.iter().any(|(known, of, ..)| *known == name && *of == series);
        assert!(has(PAPER), "{name}");
    }
}
