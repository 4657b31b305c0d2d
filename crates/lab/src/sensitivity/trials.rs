//! Every claim on the rows of every alternative.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::experiment::{AS_ASSUMED, Altered};
use crate::assumptions::{Alternative, Assumptions};
use crate::claims::{Claims, Results, Verdict};
use crate::experiment::{Experiment, Row};
use crate::scenario::{DataError, Papers};

/// What came of a claim when assumed values were changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The claim's name.
    pub claim: String,
    /// Its check, which may be another by now.
    pub check: String,
    /// Its verdict with everything as assumed, in the same repetitions.
    pub verdict: String,
    /// The comparison that decided then.
    pub closest: String,
    /// How many alternatives were tried: all that change anything in its experiments.
    pub alternatives: usize,
    /// Those with another verdict.
    pub turns: Vec<Turn>,
}

/// An alternative that turns a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What is changed, from what to what.
    pub assumption: String,
    /// Whether it is a choice, between which and what is assumed nothing lies; otherwise it is a number.
    pub choice: bool,
    /// The verdict with it.
    pub verdict: String,
    /// The comparison that decides with it, or what is missing.
    pub closest: String,
}

impl Turn {
    /// As a sentence: the value, and where it turns.
    pub fn told(&self) -> String {
        let Self { assumption, verdict, closest, .. } = self;
        let how = if self.choice { "With another choice" } else { "Within the range of an assumed value" };
        let why = if closest.is_empty() { String::new() } else { format!(" ({closest})") };
        format!("{how} ({assumption}): {verdict}{why}.")
    }
}

/// Checks every claim with each alternative that changes something in its experiments. Experiments without rows say nothing.
///
/// # Errors
/// When a check makes no sense, which a test excludes.
pub fn tried(
    papers: &Papers,
    claims: &Claims,
    runs: &[(Altered, Vec<Row>)],
) -> Result<Vec<Tried>, DataError> {
    let alternatives = Assumptions::load(papers)?.alternatives;
    let assumed = verdicts(papers, claims, runs, None)?;
    let mut tried: BTreeMap<&str, Tried> = BTreeMap::new();
    for alternative in &alternatives {
        let has = |one: &&Altered| one.has(alternative);
        let changed: Vec<&Altered> = runs.iter().map(|(one, _)| one).filter(has).collect();
        for (id, verdict) in verdicts(papers, claims, runs, Some((alternative, &changed)))? {
            let Some(before) = assumed.get(id) else { continue };
            let check = claims.all().find(|claim| claim.id == id).map(|claim| claim.check.clone());
            let known = tried.entry(id).or_insert_with(|| Tried {
                claim: id.to_owned(),
                check: check.unwrap_or_default(),
                verdict: before.name().to_owned(),
                closest: before.detail().to_owned(),
                alternatives: 0,
                turns: Vec::new(),
            });
            known.alternatives += 1;
            if verdict.name() != before.name() {
                known.turns.push(Turn {
                    assumption: alternative.label.clone(),
                    choice: alternative.is_choice(),
                    verdict: verdict.name().to_owned(),
                    closest: verdict.detail().to_owned(),
                });
            }
        }
    }
    Ok(claims.all().filter_map(|claim| tried.remove(claim.id.as_str())).collect())
}

/// The verdicts on the claims that look at an experiment which the alternative changes; without one, on all.
fn verdicts<'a>(
    papers: &Papers,
    claims: &'a Claims,
    runs: &[(Altered, Vec<Row>)],
    alternative: Option<(&Alternative, &[&Altered])>,
) -> Result<BTreeMap<&'a str, Verdict>, DataError> {
    let mut results = Results::default();
    for (altered, rows) in runs {
        let with = alternative.map(|(one, _)| one).filter(|one| altered.has(one));
        let rows = altered.rows_with(rows, with.map_or(AS_ASSUMED, |one| &one.label));
        results.add(altered.experiment(), &rows);
    }
    let is_about = |claim: &crate::claims::Claim| {
        let scenarios = Claims::scenarios(claim);
        let has = |altered: &&Altered| scenarios.iter().any(|scenario| altered.is_of(scenario));
        alternative.is_none_or(|(_, changed)| changed.iter().any(has)) && !scenarios.is_empty()
    };
    let checked = claims.check_those(papers, &results, is_about)?.into_iter();
    // What was not run at all says nothing; what can no longer be measured with an alternative does.
    let said = |verdict: &Verdict| alternative.is_some() || !matches!(verdict, Verdict::CannotSay { .. });
    let said = checked.filter(|(_, verdict)| said(verdict));
    Ok(said.map(|(claim, verdict)| (claim.id.as_str(), verdict)).collect())
}
