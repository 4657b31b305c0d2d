//! c04 Figure 5: file transfer time and Primary-TH.

use crate::experiment::Experiment;
use crate::scenario::{DataError, Papers};
use crate::two_cell_download::{Figures, Panel, TwoCellDownload};

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let figures = Figures {
        name: "c04_fig05",
        panels: &[Panel {
            scenario: "c04-fig5",
            number: "5",
            title: "File transfer time and Primary-TH",
            metric: ("ftt", "file transfer time, s"),
        }],
        metrics: &["ftt", "loss_per_ho"],
        across: ("primary_th", "Primary-TH, 1e-10 W"),
        series: &[],
    };
    Ok(Box::new(TwoCellDownload::new(papers, figures)?))
}
