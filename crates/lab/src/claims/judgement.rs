//! What is to be thought of a claim: its verdict, how sure that is, and what the claim's agreement would be worth.

use super::draws::Share;
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
    /// Nobody chose anything after seeing results.
    Unfitted,
}

impl Standing {
    /// All of them by name, the headline's first.
    pub const NAMES: [&'static str; 3] = ["unfitted", "fitted", "arithmetic"];

    /// As people say it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unfitted => Self::NAMES[0],
            Self::Fitted(_) => Self::NAMES[1],
            Self::Arithmetic => Self::NAMES[2],
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
    /// In how many other draws of the seeds it holds; `None` if there are too few runs to say, or nothing was measured.
    pub draws: Option<Share>,
    /// Whether what it looks at differs from repetition to repetition: then a verdict without draws is not sure.
    pub varies: bool,
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
        let drawn = self.draws.map_or(!self.varies, |draws| draws.is_sure(holds));
        drawn && self.tried.as_ref().is_none_or(|tried| tried.verdict == self.verdict.name())
    }

    /// The alternatives that turn the verdict. With the few repetitions that these are tried with, the verdict has to be the same as with all:
    /// otherwise they say nothing.
    pub fn turns(&self) -> &[Turn] {
        match &self.tried {
            Some(tried) if tried.verdict == self.verdict.name() => &tried.turns,
            _ => &[],
        }
    }

    /// How far its verdict was tried, as a sentence; empty if it was not.
    pub fn sureness(&self) -> String {
        let draws =
            self.draws.map(|Share { held, of }| format!("holds in {held} of {of} draws of the seeds"));
        let tried = self.tried.as_ref().map(|tried| match tried.verdict == self.verdict.name() {
            true => format!("{} of {} other values for what is assumed turn it", tried.turns.len(), tried.alternatives),
            false => "other values for what is assumed were tried in fewer repetitions, whose own verdict is another".to_owned(),
        });
        draws.into_iter().chain(tried).collect::<Vec<_>>().join("; ")
    }

    /// Why the class is no plain one, as sentences.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.turns().iter().map(Turn::told).collect();
        let holds = matches!(self.verdict, Verdict::Holds { .. });
        if self.draws.is_none() && self.varies {
            reasons.push(
                "There are too few repetitions to say what other draws of the seeds would give.".to_owned(),
            );
        }
        if let Some(tried) = self.tried.as_ref().filter(|tried| tried.verdict != self.verdict.name()) {
            reasons.push(format!("The first repetitions alone say: {} ({}).", tried.verdict, tried.closest));
        }
        if let Some(Share { held, of }) = self.draws.filter(|draws| !draws.is_sure(holds)) {
            let (share, what) = if holds { (held, "holds") } else { (of - held, "does not hold") };
            let percent = (100 * share).checked_div(of).unwrap_or_default();
            reasons.push(format!("It {what} in {percent} % of other draws of the seeds."));
        }
        reasons
    }
}
