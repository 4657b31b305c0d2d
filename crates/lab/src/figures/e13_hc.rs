//! e13 Figures 7 to 10: video handed over to a network of high capacity, where several TCP flows are at home.

use crate::experiment::Experiment;
use crate::handed_over_video::{HandedOverVideo, throughputs, transfer_times};
use crate::plot::Plot;
use crate::scenario::{DataError, Papers};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let combinations = &[(1, 2), (2, 2), (5, 2), (5, 10)];
    Ok(Box::new(HandedOverVideo::new(papers, ("e13_hc", "e13-hc"), combinations, plots)?))
}

fn plots() -> Vec<Plot> {
    vec![
        transfer_times("7", "Transfer times, one video, two TCP, 45 Mbit/s", 1, 2),
        throughputs("8", "Competing TCP, two videos, two TCP, 45 Mbit/s", 2, &[2]),
        transfer_times("9", "Transfer times, five videos, two TCP, 45 Mbit/s", 5, 2),
        throughputs("10", "Competing TCP, five videos, 45 Mbit/s", 5, &[2, 10]),
    ]
}
