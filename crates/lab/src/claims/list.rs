//! The claims, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::answer::Answer;
use super::draws::{Draw, Draws, FEWEST, Share, draws};
use super::environment::{Environment, Failure, Item};
use super::judgement::{Judgement, Standing};
use super::lexer::{Token, tokens};
use super::parser::{Expression, parse};
use super::results::{Results, Runs};
use crate::assumptions::Assumptions;
use crate::scenario::{DataError, Papers};
use crate::sensitivity::Committed;

const TEXT: &str = include_str!("../../data/claims.toml");

/// The constants that checks name, as text, for fingerprints.
pub(crate) fn constants() -> &'static str {
    TEXT.split("[[claim]]").next().unwrap_or_default()
}

/// A claim of a paper.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The key of its paper.
    pub paper: String,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// equation, quantitative, ordinal, crossover or rule.
    pub kind: String,
    /// `stated` or `derived`.
    pub origin: String,
    /// What it says.
    pub statement: String,
    /// True if the claim holds.
    pub check: String,
    /// How far results may be from the words.
    pub tolerance: String,
    /// How sure we are that a correct system satisfies it.
    pub confidence: String,
    /// Anything else.
    #[serde(default)]
    pub note: String,
    /// Why it does not hold, if it does not, and what shows it.
    #[serde(default)]
    pub found: String,
    /// What to know of it whatever the verdict: that it holds for another reason than the paper's, say.
    #[serde(default)]
    pub remark: String,
    /// What it was before the paper was read again.
    pub was: Option<Earlier>,
}

/// How a claim was checked before, which stays beside how it is checked now.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Earlier {
    /// The check; empty if it is the same, and what it looks at is another.
    #[serde(default)]
    pub check: String,
    /// The verdict.
    pub verdict: Answer,
    /// Why it is checked in another way now.
    pub why: String,
}

impl Earlier {
    /// As people say it: the verdict, and why it is no longer taken for the answer.
    pub fn told(&self) -> String {
        format!("Before: {}. {}", self.verdict, self.why)
    }
}

/// What the results say about a claim.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It holds.
    Holds {
        /// The comparison that came closest to failing, with our number first.
        decisive: Option<String>,
        /// If what it looks at has not been run often enough: how often.
        few: Option<Runs>,
        /// If what it looks at could be measured in some runs alone: in how many.
        part: Option<Runs>,
    },
    /// It does not hold.
    DoesNotHold {
        /// The comparison that failed, with our number first.
        decisive: Option<String>,
        /// If what it looks at has not been run often enough: how often.
        few: Option<Runs>,
        /// If what it looks at could be measured in some runs alone: in how many.
        part: Option<Runs>,
    },
    /// Something has not been measured.
    CannotSay {
        /// What, as `scenario.metric|{axes}`.
        missing: String,
    },
}

impl Verdict {
    /// The verdict without what it rests on.
    pub const fn answer(&self) -> Answer {
        match self {
            Self::Holds { .. } => Answer::Holds,
            Self::DoesNotHold { .. } => Answer::DoesNotHold,
            Self::CannotSay { .. } => Answer::CannotSay,
        }
    }

    /// As people say it.
    pub const fn name(&self) -> &'static str {
        self.answer().name()
    }

    /// What to say of a verdict from fewer runs than usual, such as `with 2 of 30 repetitions`; empty if there were enough.
    ///
    /// One run has no confidence interval: where a check asks for one, it finds it to be 0.
    pub fn caution(&self) -> String {
        match self {
            Self::Holds { few: Some(runs), .. } | Self::DoesNotHold { few: Some(runs), .. } => {
                format!("with {} of {} repetitions", runs.done, runs.usual)
            }
            _ => String::new(),
        }
    }

    /// What to say where a mean leaves runs out that could not measure it, such as `a mean of 20 of 30 runs`; empty if none does.
    ///
    /// Such runs are no random sample of all: a run without a crossing has no handover latency, and one that left a path early none
    /// either.
    pub fn left_out(&self) -> String {
        match self {
            Self::Holds { part: Some(runs), .. } | Self::DoesNotHold { part: Some(runs), .. } => {
                format!("a mean of {} of {} runs", runs.done, runs.usual)
            }
            _ => String::new(),
        }
    }

    /// The comparison that decided, or what is missing.
    pub fn detail(&self) -> &str {
        match self {
            Self::Holds { decisive, .. } | Self::DoesNotHold { decisive, .. } => {
                decisive.as_deref().unwrap_or_default()
            }
            Self::CannotSay { missing } => missing,
        }
    }
}

/// Everything in `data/claims.toml`.
#[derive(Clone, Debug)]
pub struct Claims {
    list: Vec<(Claim, Expression)>,
    constants: BTreeMap<String, Item>,
}

#[derive(Deserialize)]
struct File {
    constants: toml::Table,
    claim: Vec<Claim>,
}

impl Claims {
    /// The claims that come with the program.
    ///
    /// # Errors
    /// When the data are not as they should be, which a test excludes.
    pub fn load() -> Result<Self, DataError> {
        Self::parse(TEXT)
    }

    /// Other claims in the same form.
    ///
    /// # Errors
    /// When they are not in that form, or a check is no expression.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let file: File = toml::from_str(text).map_err(|error| DataError(error.to_string()))?;
        let mut list = Vec::new();
        for claim in file.claim {
            let read = tokens(&claim.check).and_then(|tokens| parse(&tokens));
            let check = read.map_err(|error| DataError(format!("{}: {error}", claim.id)))?;
            list.push((claim, check));
        }
        let constants = file.constants.into_iter().map(|(name, value)| (name, item(&value))).collect();
        Ok(Self { list, constants })
    }

    /// All claims, in the order of the data.
    pub fn all(&self) -> impl Iterator<Item = &Claim> {
        self.list.iter().map(|(claim, _)| claim)
    }

    /// Those of some papers.
    #[must_use]
    pub fn of_papers(mut self, wanted: impl Fn(&str) -> bool) -> Self {
        self.list.retain(|(claim, _)| wanted(&claim.paper));
        self
    }

    /// Checks every claim.
    ///
    /// # Errors
    /// When a check makes no sense, which a test excludes.
    pub fn check(&self, papers: &Papers, results: &Results) -> Result<Vec<(&Claim, Verdict)>, DataError> {
        let checked = self.list.iter().map(|(claim, check)| {
            let mut environment = Environment::new(papers, results, &self.constants);
            Ok((claim, verdict(claim, check, &mut environment)?))
        });
        checked.collect()
    }

    /// Judges every claim: its verdict, how sure that is, and what agreement is worth.
    ///
    /// # Errors
    /// As [`Claims::check`].
    pub fn judge(
        &self,
        papers: &Papers,
        results: &Results,
        committed: &Committed,
    ) -> Result<Vec<Judgement<'_>>, DataError> {
        let assumptions = Assumptions::load(papers)?;
        let drawn = self.draw(papers, results, |_| true)?.into_iter();
        let judged = drawn.map(|(claim, verdict, draws)| {
            let standing = standing(papers, &assumptions, claim)?;
            Ok(Judgement { claim, verdict, draws, tried: committed.of(claim).cloned(), standing })
        });
        judged.collect()
    }

    /// Checks some claims, also in other draws of the seeds where there are repetitions enough.
    ///
    /// # Errors
    /// As [`Claims::check`].
    pub(crate) fn draw(
        &self,
        papers: &Papers,
        results: &Results,
        wanted: impl Fn(&Claim) -> bool,
    ) -> Result<Vec<(&Claim, Verdict, Draws)>, DataError> {
        let all = draws(results);
        let wanted = self.list.iter().filter(|(claim, _)| wanted(claim));
        let checked = wanted.map(|(claim, check)| {
            let mut environment = Environment::new(papers, results, &self.constants);
            let verdict = verdict(claim, check, &mut environment)?;
            let draws = drawn(check, &verdict, &mut environment, &all);
            Ok((claim, verdict, draws))
        });
        checked.collect()
    }

    /// The scenarios whose metrics a claim looks at; none if it is about equations alone.
    pub fn scenarios(claim: &Claim) -> BTreeSet<String> {
        Self::metrics(claim).into_iter().map(|(scenario, _)| scenario).collect()
    }

    /// The metrics that a claim looks at, each with its scenario.
    fn metrics(claim: &Claim) -> BTreeSet<(String, String)> {
        let words = tokens(&claim.check).unwrap_or_default();
        let metric = |token: &Token| match token {
            Token::Text(text) => text.split_once('.').map(|(of, name)| (of.to_owned(), name.to_owned())),
            _ => None,
        };
        words.iter().filter_map(metric).collect()
    }
}

fn verdict(
    claim: &Claim,
    check: &Expression,
    environment: &mut Environment<'_>,
) -> Result<Verdict, DataError> {
    let outcome = environment.evaluate(check);
    let (few, part) = (environment.fewest, environment.part);
    let decisive = environment.decisive.take().map(|decisive| decisive.text);
    match outcome {
        Ok(item) if item.is_true() => Ok(Verdict::Holds { decisive, few, part }),
        Ok(_) => Ok(Verdict::DoesNotHold { decisive, few, part }),
        Err(Failure::Missing(missing)) => Ok(Verdict::CannotSay { missing }),
        Err(Failure::Wrong(what)) => Err(DataError(format!("{}: {what}", claim.id))),
    }
}

/// What other draws of the repetitions say of a claim.
fn drawn<'a>(
    check: &Expression,
    verdict: &Verdict,
    environment: &mut Environment<'a>,
    draws: &'a [Draw],
) -> Draws {
    if matches!(verdict, Verdict::CannotSay { .. }) {
        return Draws::Alike;
    }
    // Those that have not been run could differ, though those that have do not.
    let differ = environment.varies || environment.fewest.is_some();
    if differ && environment.repetitions.is_some_and(|repetitions| repetitions < FEWEST) {
        return Draws::TooFew;
    }
    if environment.varies && environment.repetitions.is_some() {
        Draws::Made(Share::of(draws.iter().map(|draw| environment.holds_in(check, draw))))
    } else {
        Draws::Alike
    }
}

/// What a claim's agreement is worth.
fn standing(papers: &Papers, assumptions: &Assumptions, claim: &Claim) -> Result<Standing, DataError> {
    let metrics = Claims::metrics(claim);
    if metrics.is_empty() {
        return Ok(Standing::Arithmetic);
    }
    let mut fitted = Vec::new();
    for (id, metric) in metrics {
        fitted.extend(assumptions.fitted(papers, &papers.scenario(&id)?));
        fitted.extend(assumptions.fitted_metric(&id, &metric));
    }
    fitted.sort();
    fitted.dedup();
    Ok(match claim.kind.as_str() {
        _ if !fitted.is_empty() => Standing::Fitted(fitted),
        "rule" => Standing::Rule,
        _ => Standing::Unfitted,
    })
}

fn item(value: &toml::Value) -> Item {
    match value {
        toml::Value::Array(values) => Item::List(values.iter().map(item).collect()),
        toml::Value::Boolean(truth) => Item::Truth(*truth),
        toml::Value::String(text) => Item::Text(text.clone()),
        other => crate::scenario::number(other).map_or(Item::Nothing, Item::Number),
    }
}
