//! One cell of each experiment, as a fingerprint of everything that happened: a change that is meant to change nothing
//! must leave them as they are.

use crate::experiment::{PAPER, Watch};
use crate::figures;
use crate::scenario::Papers;

/// Experiment, the number of the cell, and its fingerprint with the seed of the first repetition.
const GOLDEN: [(&str, usize, u64); 12] = [
    ("b08_fig07", 3, 0x9e40_13fd_3d67_ed24),
    ("b08_fig08", 14, 0xa4d0_ea44_5012_5a1c),
    ("b08_fig12", 1, 0x5260_c1bd_5e54_2faa),
    ("e13_lc", 1, 0x2c18_cea6_7b15_beae),
    ("e13_hc", 1, 0x5712_5d13_3e3a_9788),
    ("c04_fig05", 1, 0xed33_a48e_8076_9f9d),
    ("c04_fig06", 1, 0x8d97_1100_4d12_e5b4),
    ("c04_fig06", 14, 0x41be_ea63_3e42_6d51),
    ("c04_fig08", 2, 0x6582_b9d2_84db_4c9a),
    ("c04_fig08", 20, 0xf262_abbf_e8b6_b8d4),
    ("c04_fig10", 3, 0x3802_adab_413d_a55e),
    ("c04_fig10", 33, 0x4d5e_0fd8_8998_e934),
];

#[test]
fn fingerprints_are_as_they_were() {
    let papers = Papers::load().unwrap();
    let mut now = Vec::new();
    for (name, number, _) in GOLDEN {
        let experiment = figures::named(&papers, &[name.to_owned()]).unwrap().remove(0);
        let cell = &experiment.cells()[number];
        assert_eq!(cell.series, PAPER);
        let once = experiment.run(cell, experiment.seed(0), Watch::default());
        assert!(once.samples.iter().any(|sample| !sample.metrics.is_empty()), "{name} measured nothing");
        now.push((name, number, once.fingerprint));
    }
    assert_eq!(now, GOLDEN, "{now:#x?}");
}
