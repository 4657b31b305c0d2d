//! c04 Figure 9: file transfer time and wired delay.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figure, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figure = Figure {
        name: "c04_fig09",
        scenario: "c04-fig9",
        number: "9",
        title: "File transfer time and wired delay",
        metric: ("ftt", "file transfer time, s"),
        metrics: &["ftt"],
        across: ("wired_ms", "wired delay, ms"),
        series: &["scheme", "speed"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figure)?))
}
