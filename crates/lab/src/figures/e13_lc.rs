//! e13 Figures 3 to 6: video handed over to a network of low capacity, where one TCP flow is at home.

use crate::experiment::Experiment;
use crate::handed_over_video::{HandedOverVideo, throughputs, transfer_times};
use crate::plot::Plot;
use crate::scenario::{DataError, Papers};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(HandedOverVideo::new(papers, ("e13_lc", "e13-lc"), &[(1, 1), (2, 1)], plots)?))
}

fn plots() -> Vec<Plot> {
    vec![
        transfer_times("3", "Transfer times, one video, one TCP, 6 Mbit/s", 1, 1),
        throughputs("4", "Competing TCP, one video, 6 Mbit/s", 1, &[1]),
        transfer_times("5", "Transfer times, two videos, one TCP, 6 Mbit/s", 2, 1),
        throughputs("6", "Competing TCP, two videos, 6 Mbit/s", 2, &[1]),
    ]
}
