//! c04 Figure 10: handover latency and speed.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figure, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figure = Figure {
        name: "c04_fig10",
        scenario: "c04-fig10",
        number: "10",
        title: "Handover latency and speed",
        metric: ("ho_latency", "handover latency, s"),
        metrics: &["ho_latency"],
        across: ("speed", "speed, m/s"),
        series: &["scheme", "l2ho"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figure)?))
}
