//! What is to be thought of a claim: its verdict, how sure that is, and what the claim's agreement would be worth.

use super::draws::{Draws, Share};
use super::list::{Claim, Verdict};
use crate::sensitivity::{Tried, Turn};

/// The class of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// It holds, in 95 % of other draws of the seeds and with every other value that was tried for an assumed one.
    Holds,
    /// It holds, but another draw of the seeds, or another number within the range of an assumed one, would turn it.
    HoldsNarrowly,
    /// It does not hold, in 95 % of other draws and with every other value.
    DoesNotHold,
    /// It holds or not by a value that the paper leaves out: a choice turns it, or it does not hold with what is assumed and does with something else.
    Depends,
    /// Something has not been measured, or it does not hold and another draw of the seeds would turn that.
    CannotSay,
}

impl Class {
    /// All of them, the best first.
    pub const ALL: [Self; 5] =
        [Self::Holds, Self::HoldsNarrowly, Self::Depends, Self::DoesNotHold, Self::CannotSay];

    /// As people say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsNarrowly => "holds narrowly",
            Self::DoesNotHold => "does not hold",
            Self::Depends => "depends",
            Self::CannotSay => "cannot say",
        }
    }
}

/// What a claim's agreement is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is arithmetic on numbers of the paper: no run has a part in it.
    Arithmetic,
    /// Its set-up has values that were chosen so that sentences of the paper hold: these.
    Fitted(Vec<String>),
    /// It is a rule of the paper's exchanges, which hosts obey or not: no number can be near or far.
    Rule,
    /// Nobody chose anything after seeing results.
    Unfitted,
}

impl Standing {
    /// All of them by name, the headline's first.
    pub const NAMES: [&'static str; 4] = ["unfitted", "fitted", "rule", "arithmetic"];

    /// As people say it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unfitted => Self::NAMES[0],
            Self::Fitted(_) => Self::NAMES[1],
            Self::Rule => Self::NAMES[2],
            Self::Arithmetic => Self::NAMES[3],
        }
    }
}

/// A claim, judged.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// What the results say by themselves.
    pub verdict: Verdict,
    /// What other draws of the seeds say.
    pub draws: Draws,
    /// What was tried for the values that the paper leaves out; `None` if nothing is known of that.
    pub tried: Option<Tried>,
    /// What its agreement is worth.
    pub standing: Standing,
}

impl Judgement<'_> {
    /// The class of its verdict.
    pub fn class(&self) -> Class {
        let turns = self.turns();
        let is_sure = |holds| self.is_sure(holds);
        match self.verdict {
            Verdict::CannotSay { .. } => Class::CannotSay,
            Verdict::Holds { .. } if turns.iter().any(|turn| turn.choice) => Class::Depends,
            Verdict::Holds { .. } if turns.is_empty() && is_sure(true) => Class::Holds,
            Verdict::Holds { .. } => Class::HoldsNarrowly,
            Verdict::DoesNotHold { .. } if !turns.is_empty() => Class::Depends,
            Verdict::DoesNotHold { .. } if is_sure(false) => Class::DoesNotHold,
            Verdict::DoesNotHold { .. } => Class::CannotSay,
        }
    }

    /// Whether other draws of the seeds agree, and the few repetitions with what is assumed that alternatives are held against, which are
    /// another draw.
    fn is_sure(&self, holds: bool) -> bool {
        self.draws.are_sure(holds) && (self.tried.is_none() || self.tried_alike().is_some())
    }

    /// What was tried, if the repetitions that it was tried in have the same verdict as all: otherwise it says nothing.
    fn tried_alike(&self) -> Option<&Tried> {
        self.tried.as_ref().filter(|tried| tried.verdict == self.verdict.answer())
    }

    /// The alternatives that turn the verdict.
    pub fn turns(&self) -> &[Turn] {
        self.tried_alike().map_or(&[], |tried| &tried.turns)
    }

    /// How far its verdict was tried, as a sentence; empty if it was not.
    pub fn sureness(&self) -> String {
        let draws = match self.draws {
            Draws::Made(Share { held, of, .. }) => {
                Some(format!("holds in {held} of {of} draws of the seeds"))
            }
            Draws::Alike | Draws::TooFew => None,
        };
        draws.into_iter().chain(self.tried_alike().map(Tried::told)).collect::<Vec<_>>().join("; ")
    }

    /// Why the class is not simply *holds* or *does not hold*, as sentences.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.turns().iter().map(Turn::told).collect();
        let holds = matches!(self.verdict, Verdict::Holds { .. });
        if let Some(tried) = self.tried.as_ref().filter(|_| self.tried_alike().is_none()) {
            let Tried { verdict, closest, repetitions, .. } = tried;
            reasons.push(format!(
                "The first {repetitions} repetitions, in which other values were tried for what is assumed, say by themselves: {verdict} ({closest})."
            ));
        }
        match self.draws {
            Draws::TooFew => reasons.push(
                "There are too few repetitions to say what other draws of the seeds would give.".to_owned(),
            ),
            Draws::Made(Share { held, failed, of }) if !self.draws.are_sure(holds) => {
                let (share, what) = if holds { (held, "holds") } else { (failed, "does not hold") };
                let percent = (100 * share).checked_div(of).unwrap_or_default();
                reasons.push(format!("It {what} in {percent} % of other draws of the seeds."));
            }
            Draws::Made(_) | Draws::Alike => {}
        }
        reasons
    }
}
