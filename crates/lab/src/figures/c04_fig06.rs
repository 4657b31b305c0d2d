//! c04 Figure 6: file transfer time and path acquisition time.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figure, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figure = Figure {
        name: "c04_fig06",
        scenario: "c04-fig6",
        number: "6",
        title: "File transfer time and path acquisition time",
        metric: ("ftt", "file transfer time, s"),
        metrics: &["ftt"],
        across: ("path_acq", "path acquisition time, s"),
        series: &["scheme"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figure)?))
}
