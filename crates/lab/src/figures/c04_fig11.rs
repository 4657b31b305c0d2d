//! c04 Figure 11: file transfer time and speed.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figure, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figure = Figure {
        name: "c04_fig11",
        scenario: "c04-fig11",
        number: "11",
        title: "File transfer time and speed",
        metric: ("ftt", "file transfer time, s"),
        metrics: &["ftt"],
        across: ("speed", "speed, m/s"),
        series: &["scheme", "l2ho"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figure)?))
}
