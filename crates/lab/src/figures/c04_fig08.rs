//! c04 Figure 8: handover latency and wired delay.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figure, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figure = Figure {
        name: "c04_fig08",
        scenario: "c04-fig8",
        number: "8",
        title: "Handover latency and wired delay",
        metric: ("ho_latency", "handover latency, s"),
        metrics: &["ho_latency"],
        across: ("wired_ms", "wired delay, ms"),
        series: &["scheme", "speed"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figure)?))
}
