//! One file per experiment, but for those whose set-ups in the data say all that there is to say.

mod b08_aisle;
mod b08_dar;
mod b08_eq3;
mod b08_fig07;
mod b08_fig08;
mod b08_fig12;
mod b08_fpf;
mod b08_sbpp;
mod b08_westwood;
mod b09_cc;
mod b09_fig04;
mod b09_fig05;
mod b09_fig06;
mod b09_pf;
mod c04_amm;
mod c04_pingpong;
mod c04_probe;
mod c04_range;
mod d10_delay;
mod d10_fig04;
mod d10_fig05;
mod d10_msgs;
mod e13_hc;
mod e13_lc;

use crate::experiment::Experiment;
use crate::likeness::hint;
use crate::scenario::{DataError, Papers};
use crate::sensitivity;
use crate::two_cell_download::TwoCellDownload;

type New = fn(&Papers) -> Result<Box<dyn Experiment>, DataError>;

/// All experiments, paper by paper.
const ALL: &[New] = &[
    b08_fig07::experiment,
    b08_fig08::experiment,
    b08_aisle::ten,
    b08_aisle::eleven,
    b08_fig12::failover::experiment,
    b08_fig12::idle::experiment,
    b08_eq3::experiment,
    b08_sbpp::experiment,
    b08_westwood::experiment,
    b08_fpf::experiment,
    b08_dar::experiment,
    b09_fig04::experiment,
    b09_fig05::experiment,
    b09_fig06::experiment,
    b09_pf::experiment,
    b09_cc::experiment,
    e13_lc::experiment,
    e13_hc::experiment,
    c04_range::experiment,
    |papers| TwoCellDownload::experiment(papers, "c04_fig05", &[("5", "c04-fig5")]),
    |papers| TwoCellDownload::experiment(papers, "c04_fig06", &[("6", "c04-fig6"), ("7", "c04-fig7")]),
    |papers| TwoCellDownload::experiment(papers, "c04_fig08", &[("8", "c04-fig8"), ("9", "c04-fig9")]),
    |papers| TwoCellDownload::experiment(papers, "c04_fig10", &[("10", "c04-fig10"), ("11", "c04-fig11")]),
    c04_pingpong::experiment,
    c04_amm::experiment,
    c04_probe::experiment,
    d10_fig04::experiment,
    d10_fig05::experiment,
    d10_delay::experiment,
    d10_msgs::experiment,
];

/// All experiments, in the order of the papers.
///
/// # Errors
/// When the data lack something that an experiment needs, which a test excludes.
pub fn all(papers: &Papers) -> Result<Vec<Box<dyn Experiment>>, DataError> {
    ALL.iter().map(|new| new(papers)).collect()
}

/// Whether results of this name would be taken for those of a paper, with what is assumed or with other values.
///
/// # Errors
/// What [`all`] says.
pub fn is_taken(papers: &Papers, name: &str) -> Result<bool, DataError> {
    let altered = name.strip_suffix(sensitivity::SUFFIX);
    let of = |known: &dyn Experiment| {
        known.name() == name || known.scenario().paper() == name || altered == Some(known.name())
    };
    Ok(all(papers)?.iter().any(|known| of(&**known)))
}

/// Whether a name is that of an experiment, of a figure of it, or of a set-up.
pub fn goes_by(experiment: &dyn Experiment, name: &str) -> bool {
    let figure = |plot: crate::plot::Plot| plot.file_name(experiment.scenario().paper());
    name == experiment.name()
        || experiment.is_of(name)
        || experiment.plots().into_iter().map(figure).any(|figure| figure == name)
}

/// The experiments that `names` name: an experiment, a figure of one (`b08_fig07a`), a paper, or `all`.
///
/// # Errors
/// The name that is nobody's, or what [`all`] says.
pub fn named(papers: &Papers, names: &[String]) -> Result<Vec<Box<dyn Experiment>>, DataError> {
    let all = all(papers)?;
    let is = |experiment: &dyn Experiment, name: &str| {
        name == "all" || name == experiment.scenario().paper() || goes_by(experiment, name)
    };
    if let Some(stranger) = names.iter().find(|name| !all.iter().any(|experiment| is(&**experiment, name))) {
        let meant = hint(stranger, names_of(&all));
        return Err(DataError(format!(
            "there is no experiment called {stranger}{meant}; `whimbrel lab list` shows all, and experiments of your own are in \
             files called NAME.toml"
        )));
    }
    Ok(all.into_iter().filter(|experiment| names.iter().any(|name| is(&**experiment, name))).collect())
}

/// What experiments go by, so that those who misspell it can be told: their names, papers and figures.
pub fn names_of(all: &[Box<dyn Experiment>]) -> Vec<String> {
    let names = all.iter().map(|experiment| experiment.name().to_owned());
    let papers = all.iter().map(|experiment| experiment.scenario().paper().to_owned());
    let figures = all.iter().flat_map(|experiment| {
        let paper = experiment.scenario().paper();
        experiment.plots().into_iter().map(move |plot| plot.file_name(paper))
    });
    names.chain(papers).chain(figures).collect()
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod rules_tests;
