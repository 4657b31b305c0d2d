//! One cell for each figure, and one of our own for each kind of experiment, as a fingerprint of everything that happened: a change
//! that is meant to change nothing must leave them as they are.

use crate::experiment::{Outcome, PAPER, SEAMLESS, Watch};
use crate::figures;
use crate::scenario::Papers;

/// Experiment, series, the number of the cell, and its fingerprint with the seed of the first repetition.
///
/// A cell of e13 is one run that feeds a figure with transfer times and one with TCP's throughput, as they are named here.
const GOLDEN: [(&str, &str, usize, u64); 28] = [
    ("b08_fig07", PAPER, 3, 0x62a2_5783_fe27_3df1),
    ("b08_fig07", SEAMLESS, 240, 0x7f95_04a1_049c_232b),
    ("b08_fig08", PAPER, 14, 0xcd62_a66d_83b3_e008),
    ("b08_fig12", PAPER, 1, 0x3f1a_88f1_9e87_5123),
    ("b08_fig12", SEAMLESS, 6, 0xbcc2_3cf4_b0c1_fad1),
    ("b08_dar", PAPER, 6, 0xbfb3_10c1_b001_ce63),
    ("b08_eq3", PAPER, 8, 0x3f9f_9743_c778_04fd),
    // Figures 3 and 4: one video, one TCP.
    ("e13_lc", PAPER, 1, 0x234b_a618_274a_001a),
    ("e13_lc", SEAMLESS, 4, 0x3462_5c68_2c25_0793),
    // Figures 5 and 6: two videos, one TCP.
    ("e13_lc", PAPER, 6, 0x52bc_19e5_dcbf_7728),
    // Figure 7: one video, two TCP.
    ("e13_hc", PAPER, 1, 0x659a_a129_590b_c77b),
    // Figure 8: two videos, two TCP.
    ("e13_hc", PAPER, 6, 0x39ff_83f1_70f3_89ca),
    // Figures 9 and 10: five videos, two TCP; then the other half of Figure 10, with ten TCP.
    ("e13_hc", PAPER, 11, 0x4313_f935_f637_2698),
    ("e13_hc", PAPER, 16, 0x1cdc_f3b2_9c50_1197),
    ("c04_range", PAPER, 0, 0x0840_8963_2f58_b9c8),
    ("c04_fig05", PAPER, 1, 0x41b9_520a_1a0c_12a4),
    // Figures 6 and 7: both schemes.
    ("c04_fig06", PAPER, 1, 0x85f7_1fa3_cbe5_ed6a),
    ("c04_fig06", PAPER, 14, 0xe42a_7656_3352_ccb1),
    ("c04_fig06", SEAMLESS, 16, 0xed4d_2c8c_84cc_bad6),
    // Figures 8 and 9.
    ("c04_fig08", PAPER, 2, 0xb7ec_ecc4_70e0_2009),
    ("c04_fig08", PAPER, 20, 0x2362_7ed4_f138_eb48),
    // Figures 10 and 11.
    ("c04_fig10", PAPER, 3, 0xcc3d_10c1_da41_bc85),
    ("c04_fig10", PAPER, 33, 0xb297_a724_ee3c_c7eb),
    ("c04_pingpong", PAPER, 0, 0x4660_ea73_c01b_7c76),
    // Whether the rule is obeyed.
    ("c04_amm", PAPER, 0, 0xc293_bd4c_8601_b7df),
    // With a probe and without.
    ("c04_probe", PAPER, 0, 0xfe00_07de_ca2f_bee2),
    ("c04_probe", PAPER, 2, 0x16a4_b967_d9eb_83af),
    ("c04_probe", "set-primary-alone", 4, 0xc633_c9a1_78db_6709),
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
    for (name, series, number, _) in GOLDEN {
        let experiment = figures::named(&papers, &[name.to_owned()]).unwrap().remove(0);
        let cell = &experiment.cells()[number];
        let once = experiment.run(cell, experiment.seed(0), Watch::fingerprint());
        assert_eq!(cell.series, series, "{name} {number}");
        assert!(once.samples.iter().any(|sample| !sample.metrics.is_empty()), "{name} measured nothing");
        now.push((name, series, number, fingerprint(&once)));
    }
    assert_eq!(now, GOLDEN, "{now:#x?}");
}

/// Whatever experiment there is, one of its cells is above; those on assumptions run cells of the others.
#[test]
fn every_experiment_has_a_golden_cell() {
    for experiment in figures::all(&Papers::load().unwrap()).unwrap() {
        let name = experiment.name();
        let has = |series: &str| GOLDEN.iter().any(|(known, of, ..)| *known == name && *of == series);
        assert!(has(PAPER) || name.ends_with("_assumptions"), "{name}");
    }
}
