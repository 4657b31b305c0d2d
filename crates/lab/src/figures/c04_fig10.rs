//! c04 Figures 10 and 11: handover latency and file transfer time, and speed, soft and hard layer-2 handover.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figures, Panel, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figures = Figures {
        name: "c04_fig10",
        panels: &[
            Panel {
                scenario: "c04-fig10",
                number: "10",
                title: "Handover latency and speed",
                metric: ("ho_latency", "handover latency, s"),
            },
            Panel {
                scenario: "c04-fig11",
                number: "11",
                title: "File transfer time and speed",
                metric: ("ftt", "file transfer time, s"),
            },
        ],
        metrics: &["ho_latency", "ftt"],
        across: ("speed", "speed, m/s"),
        series: &["scheme", "l2ho"],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figures)?))
}
