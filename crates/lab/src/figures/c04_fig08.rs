//! c04 Figures 8 and 9: handover latency and file transfer time, and wired delay.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figures, Panel, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figures = Figures {
        name: "c04_fig08",
        panels: &[
            Panel {
                scenario: "c04-fig8",
                number: "8",
                title: "Handover latency and wired delay",
                metric: ("ho_latency", "handover latency, s"),
            },
            Panel {
                scenario: "c04-fig9",
                number: "9",
                title: "File transfer time and wired delay",
                metric: ("ftt", "file transfer time, s"),
            },
        ],
        metrics: &["ho_latency", "ftt"],
        across: ("wired_ms", "wired delay, ms"),
        series: &["scheme", "speed"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figures)?))
}
