//! c04 Figures 6 and 7: file transfer time and handover latency, and path acquisition time.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figures, Panel, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figures = Figures {
        name: "c04_fig06",
        panels: &[
            Panel {
                scenario: "c04-fig6",
                number: "6",
                title: "File transfer time and path acquisition time",
                metric: ("ftt", "file transfer time, s"),
            },
            Panel {
                scenario: "c04-fig7",
                number: "7",
                title: "Handover latency and path acquisition time",
                metric: ("ho_latency", "handover latency, s"),
            },
        ],
        metrics: &["ftt", "ho_latency"],
        across: ("path_acq", "path acquisition time, s"),
        series: &["scheme"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figures)?))
}
