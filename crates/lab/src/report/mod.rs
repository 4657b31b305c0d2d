//! One HTML file with everything: charts, set-ups, assumptions, claims with verdicts, commands. It needs no network.

mod charts;
mod page;

use crate::claims::{Claim, Claims, Results, Verdict};
use crate::experiment::{Experiment, Row};
use crate::scenario::{DataError, Papers};
use crate::summary::{self, Group};

/// An experiment that has been run.
pub struct Done {
    /// The experiment.
    pub experiment: Box<dyn Experiment>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// An experiment as the report shows it.
struct Chapter<'a> {
    done: &'a Done,
    groups: Vec<Group>,
    claims: Vec<(&'a Claim, Verdict)>,
}

/// The report.
///
/// # Errors
/// When data of the papers are not as they should be, which tests exclude.
pub fn html(papers: &Papers, claims: &Claims, done: &[Done]) -> Result<String, DataError> {
    let mut results = Results::default();
    let mut chapters = Vec::new();
    for done in done {
        let groups = summary::summarise(&*done.experiment, &done.rows);
        results.add(&*done.experiment, &groups);
        chapters.push(Chapter { done, groups, claims: Vec::new() });
    }
    let mut equations = Vec::new();
    for (claim, verdict) in claims.check(papers, &results)? {
        let of = Claims::scenarios(claim);
        let about = |chapter: &&mut Chapter<'_>| of.contains(chapter.done.experiment.scenario().id());
        match chapters.iter_mut().find(about) {
            Some(chapter) => chapter.claims.push((claim, verdict)),
            None if of.is_empty() => equations.push((claim, verdict)),
            None => {}
        }
    }
    Ok(page::page(&chapters, &equations))
}

#[cfg(test)]
#[path = "../report_tests.rs"]
mod tests;
