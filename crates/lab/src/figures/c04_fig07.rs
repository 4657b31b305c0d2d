//! c04 Figure 7: handover latency and path acquisition time.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figure, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figure = Figure {
        name: "c04_fig07",
        scenario: "c04-fig7",
        number: "7",
        title: "Handover latency and path acquisition time",
        metric: ("ho_latency", "handover latency, s"),
        metrics: &["ho_latency"],
        across: ("path_acq", "path acquisition time, s"),
        series: &["scheme"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figure)?))
}
