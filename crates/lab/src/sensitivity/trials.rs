//! Every claim on the rows of every alternative.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::experiment::{AS_ASSUMED, Altered};
use crate::assumptions::{Alternative, Assumptions};
use crate::claims::{Answer, Claim, Claims, Draws, Results, Verdict};
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
    pub verdict: Answer,
    /// The comparison that decided then.
    pub closest: String,
    /// In how many repetitions, at least, of what is not the same each time.
    pub repetitions: u64,
    /// How many alternatives were tried: all that change anything in its experiments.
    pub alternatives: usize,
    /// Those with another verdict, in 95 % of other draws of their repetitions, too.
    pub turns: Vec<Turn>,
    /// Those with another verdict that other draws would turn back: they say nothing.
    pub undecided: Vec<String>,
    /// Those with which something that the check asks for can no longer be measured.
    pub unmeasured: Vec<String>,
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
    pub verdict: Answer,
    /// The comparison that decides with it, or what is missing.
    pub closest: String,
    /// Between which two numbers it turns: the farthest that was tried on this side of what is assumed and leaves the verdict, and this
    /// one. Absent where nothing lies between, where several values are changed, and where a nearer number turns it as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
}

impl Tried {
    /// What of it people are shown; the check is held against the claim's own.
    pub(super) fn shown(&self) -> impl Iterator<Item = &String> {
        let turns = self.turns.iter().flat_map(|turn| {
            [&turn.assumption, &turn.closest].into_iter().chain(turn.between.iter().flatten())
        });
        let labels = self.undecided.iter().chain(&self.unmeasured);
        [&self.claim, &self.closest].into_iter().chain(turns).chain(labels)
    }

    /// As a clause: how many alternatives do what.
    pub(crate) fn told(&self) -> String {
        let Self { repetitions, alternatives, turns, undecided, unmeasured, .. } = self;
        let mut told = format!("{} of {alternatives} other values for what is assumed turn it", turns.len());
        for (labels, what) in [(undecided, "may turn it"), (unmeasured, "leave nothing to measure")] {
            if !labels.is_empty() {
                told.push_str(&format!(", {} {what} ({})", labels.len(), labels.join(" | ")));
            }
        }
        let plural = if *repetitions == 1 { "" } else { "s" };
        format!("{told}; tried in {repetitions} repetition{plural}")
    }
}

impl Turn {
    /// As a sentence: the value, and where it turns.
    pub fn told(&self) -> String {
        let Self { assumption, verdict, closest, .. } = self;
        let how = if self.choice { "With another choice" } else { "Within the range of an assumed value" };
        let why = if closest.is_empty() { String::new() } else { format!(" ({closest})") };
        let between = self.between.as_ref();
        let where_it_turns =
            between.map_or_else(String::new, |[from, to]| format!("; it turns between {from} and {to}"));
        format!("{how} ({assumption}): {verdict}{why}{where_it_turns}.")
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
    let assumed: BTreeMap<&str, _> = verdicts(papers, claims, runs, None)?
        .into_iter()
        .map(|(claim, said)| (claim.id.as_str(), said))
        .collect();
    let mut tried: BTreeMap<&str, Tried> = BTreeMap::new();
    let mut same: BTreeMap<&str, Vec<&Alternative>> = BTreeMap::new();
    for alternative in &alternatives {
        let has = |one: &&Altered| one.has(alternative);
        let changed: Vec<&Altered> = runs.iter().map(|(one, _)| one).filter(has).collect();
        for (claim, (verdict, draws)) in verdicts(papers, claims, runs, Some((alternative, &changed)))? {
            let Some((before, _)) = assumed.get(claim.id.as_str()) else { continue };
            let known = tried.entry(&claim.id).or_insert_with(|| nothing_tried(claim, before, runs));
            known.alternatives += 1;
            let label = alternative.label.clone();
            if verdict.answer() == before.answer() {
                same.entry(&claim.id).or_default().push(alternative);
                continue;
            }
            match verdict {
                Verdict::CannotSay { .. } => known.unmeasured.push(label),
                _ if !draws.are_sure(matches!(verdict, Verdict::Holds { .. })) => known.undecided.push(label),
                _ => known.turns.push(Turn {
                    assumption: label,
                    choice: alternative.is_choice(),
                    verdict: verdict.answer(),
                    closest: verdict.detail().to_owned(),
                    between: None,
                }),
            }
        }
    }
    for (claim, one) in &mut tried {
        let same = same.get(claim).map_or(&[][..], Vec::as_slice);
        bracket(papers, &alternatives, same, &mut one.turns);
    }
    Ok(claims.all().filter_map(|claim| tried.remove(claim.id.as_str())).collect())
}

/// Says of the turns of a claim between which numbers they are; `same` are the alternatives with which its verdict is as assumed.
fn bracket(papers: &Papers, all: &[Alternative], same: &[&Alternative], turns: &mut [Turn]) {
    let number = |turn: &Turn| {
        let alternative = all.iter().find(|one| one.label == turn.assumption)?;
        let (leaf, number) = alternative.number()?;
        Some((leaf, number, papers.leaf(leaf).and_then(crate::scenario::number)?))
    };
    let turned: Vec<_> = turns.iter().filter_map(number).collect();
    for turn in turns {
        let Some((leaf, to, assumed)) = number(turn) else { continue };
        let is_between = |other: f64| (assumed.min(to) < other) && (other < assumed.max(to));
        if turned.iter().any(|&(of, other, _)| of == leaf && is_between(other)) {
            continue;
        }
        let kept = same.iter().filter_map(|one| one.number()).filter(|(of, _)| *of == leaf);
        let nearer = kept.map(|(_, number)| number).filter(|&other| is_between(other));
        let from =
            nearer.fold(assumed, |from, other| if to > assumed { from.max(other) } else { from.min(other) });
        turn.between = Some([from.to_string(), to.to_string()]);
    }
}

/// With everything as assumed.
fn nothing_tried(claim: &Claim, verdict: &Verdict, runs: &[(Altered, Vec<Row>)]) -> Tried {
    let scenarios = Claims::scenarios(claim);
    let own = runs.iter().filter(|(one, _)| scenarios.iter().any(|scenario| one.is_of(scenario)));
    let repetitions = own
        .filter(|(one, _)| one.experiment().repetitions() > 1)
        .map(|(_, rows)| rows.iter().map(|row| row.repetition).collect::<BTreeSet<_>>().len() as u64);
    Tried {
        claim: claim.id.clone(),
        check: claim.check.clone(),
        verdict: verdict.answer(),
        closest: verdict.detail().to_owned(),
        repetitions: repetitions.min().unwrap_or(1),
        alternatives: 0,
        turns: Vec::new(),
        undecided: Vec::new(),
        unmeasured: Vec::new(),
    }
}

/// A claim with its verdict, and what other draws say of that.
type Said<'a> = (&'a Claim, (Verdict, Draws));

/// The verdicts on the claims that look at an experiment which the alternative changes; without one, on all.
fn verdicts<'a>(
    papers: &Papers,
    claims: &'a Claims,
    runs: &[(Altered, Vec<Row>)],
    alternative: Option<(&Alternative, &[&Altered])>,
) -> Result<Vec<Said<'a>>, DataError> {
    let mut results = Results::default();
    for (altered, rows) in runs {
        let with = alternative.map(|(one, _)| one).filter(|one| altered.has(one));
        let rows = altered.rows_with(rows, with.map_or(AS_ASSUMED, |one| &one.label));
        results.add(altered.experiment(), &rows);
    }
    let is_about = |claim: &Claim| {
        let scenarios = Claims::scenarios(claim);
        let has = |altered: &&Altered| scenarios.iter().any(|scenario| altered.is_of(scenario));
        alternative.is_none_or(|(_, changed)| changed.iter().any(has)) && !scenarios.is_empty()
    };
    let checked = claims.draw(papers, &results, is_about)?.into_iter();
    // What was not run at all says nothing; what can no longer be measured with an alternative does.
    let said = |verdict: &Verdict| alternative.is_some() || !matches!(verdict, Verdict::CannotSay { .. });
    let said = checked.filter(|(_, verdict, _)| said(verdict));
    Ok(said.map(|(claim, verdict, draws)| (claim, (verdict, draws))).collect())
}
