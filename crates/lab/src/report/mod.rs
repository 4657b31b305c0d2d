//! Everything that has been measured as one HTML file: charts, set-ups, assumptions, claims with verdicts.
//!
//! The file loads nothing, and its content security policy lets only this report's own two scripts run. All words come
//! from data that somebody else may have written, so all of them are escaped: by the templates, and by `embed` in the
//! charts' data. Equal results make equal files.

mod beside;
mod chart;
mod distribution;
mod embed;
mod influence;
mod origin;
mod page;
mod score;
mod setup;
mod stated;
mod values;
mod verdicts;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::claims::{Claims, Results};
use crate::experiment::{Experiment, Row};
use crate::scenario::{DataError, Papers};
use crate::sensitivity::Committed;
use crate::store;
use crate::summary::{Group, summarise};

/// An experiment with its rows; none if it has not been run.
pub struct Measured {
    /// The experiment.
    pub experiment: Box<dyn Experiment>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// The versions of the program that made them.
    pub versions: BTreeSet<String>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Set-ups or claims make no sense.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A template cannot be filled in.
    #[error("the report cannot be written: {0}")]
    Page(#[from] askama::Error),
}

/// Reads the results of experiments from a directory.
///
/// # Errors
/// What the file system says, or that a file has another form.
pub fn read(dir: &Path, experiments: Vec<Box<dyn Experiment>>) -> io::Result<Vec<Measured>> {
    let measured = experiments.into_iter().map(|experiment| {
        let rows = store::read(dir, &*experiment)?.unwrap_or_default();
        let versions = store::versions(dir, &*experiment)?;
        Ok(Measured { experiment, rows, versions })
    });
    measured.collect()
}

/// Makes the report: one HTML document with all figures, and all claims.
///
/// # Errors
/// When the data make no sense, which tests exclude for those that come with the program.
pub fn render(
    papers: &Papers,
    claims: &Claims,
    committed: &Committed,
    measured: &[Measured],
) -> Result<String, ReportError> {
    let groups: Vec<Vec<Group>> = measured.iter().map(|one| summarise(&*one.experiment, &one.rows)).collect();
    let mut results = Results::default();
    for one in measured {
        results.add(&*one.experiment, &one.rows);
    }
    let judgements = claims.judge(papers, &results, committed)?;
    page::render(papers, measured, &groups, &judgements, committed)
}

#[cfg(test)]
#[path = "../report_tests.rs"]
mod tests;
