//! One cell of each experiment, as a fingerprint of everything that happened: a change that is meant to change nothing
//! must leave them as they are.

use crate::experiment::{PAPER, Watch};
use crate::figures;
use crate::scenario::Papers;

/// Experiment, the number of the cell, and its fingerprint with the seed of the first repetition.
const GOLDEN: [(&str, usize, u64); 3] = [
    ("b08_fig07", 3, 0x9e40_13fd_3d67_ed24),
    ("b08_fig08", 14, 0xa4d0_ea44_5012_5a1c),
    ("b08_fig12", 1, 0x5260_c1bd_5e54_2faa),
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
