//! One cell of each experiment, as a fingerprint of everything that happened: a change that is meant to change nothing
//! must leave them as they are.

use crate::experiment::{PAPER, Watch};
use crate::figures;
use crate::scenario::Papers;

/// Experiment, the number of the cell, and its fingerprint with the seed of the first repetition.
const GOLDEN: [(&str, usize, u64); 13] = [
    ("b08_fig07", 3, 0x62a2_5783_fe27_3df1),
    ("b08_fig08", 14, 0xcd62_a66d_83b3_e008),
    ("b08_fig12", 1, 0x3f1a_88f1_9e87_5123),
    ("b08_dar", 6, 0xbfb3_10c1_b001_ce63),
    ("e13_lc", 1, 0x234b_a618_274a_001a),
    ("e13_hc", 1, 0x659a_a129_590b_c77b),
    ("c04_fig05", 1, 0x41b9_520a_1a0c_12a4),
    ("c04_fig06", 1, 0x85f7_1fa3_cbe5_ed6a),
    ("c04_fig06", 14, 0xe42a_7656_3352_ccb1),
    ("c04_fig08", 2, 0xb7ec_ecc4_70e0_2009),
    ("c04_fig08", 20, 0x2362_7ed4_f138_eb48),
    ("c04_fig10", 3, 0xcc3d_10c1_da41_bc85),
    ("c04_fig10", 33, 0xb297_a724_ee3c_c7eb),
];

#[test]
fn fingerprints_are_as_they_were() {
    let papers = Papers::load().unwrap();
    let mut now = Vec::new();
    for (name, number, _) in GOLDEN {
        let experiment = figures::named(&papers, &[name.to_owned()]).unwrap().remove(0);
        let cell = &experiment.cells()[number];
        assert_eq!(cell.series, PAPER);
        let once = experiment.run(cell, experiment.seed(0), Watch::fingerprint());
        assert!(once.samples.iter().any(|sample| !sample.metrics.is_empty()), "{name} measured nothing");
        now.push((name, number, once.fingerprint));
    }
    assert_eq!(now, GOLDEN, "{now:#x?}");
}
