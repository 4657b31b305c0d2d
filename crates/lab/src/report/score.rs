//! How many claims have a verdict of which class.

use crate::claims::{Class, Judgement, Standing};

/// Claims by class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Score {
    pub(super) holds: usize,
    pub(super) narrowly: usize,
    pub(super) depends: usize,
    pub(super) fails: usize,
    pub(super) unknown: usize,
    /// Of those that the results speak on: from fewer repetitions than usual.
    pub(super) few: usize,
    /// Of those: with a mean that leaves runs out.
    pub(super) part: usize,
}

/// The score of the claims of one standing.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) score: Score,
}

impl Score {
    pub(super) fn of<'a>(judgements: impl IntoIterator<Item = &'a Judgement<'a>>) -> Self {
        let mut score = Self::default();
        for judgement in judgements {
            score.few += usize::from(!judgement.verdict.caution().is_empty());
            score.part += usize::from(!judgement.verdict.left_out().is_empty());
            *match judgement.class() {
                Class::Holds => &mut score.holds,
                Class::HoldsNarrowly => &mut score.narrowly,
                Class::Depends => &mut score.depends,
                Class::DoesNotHold => &mut score.fails,
                Class::CannotSay => &mut score.unknown,
            } += 1;
        }
        score
    }

    /// The scores by what agreement is worth, the most first.
    pub(super) fn parts(judgements: &[Judgement<'_>]) -> Vec<Part> {
        let what = [
            "nothing in their set-ups was chosen after seeing results: this is the score",
            "a value of their set-ups was chosen so that sentences of the paper hold: agreement is a fit",
            "rules of the papers' exchanges: they are obeyed or not, and nothing measured is near or far",
            "equations and numbers of the paper beside each other: no run has a part in them",
        ];
        let part = |(name, what): (&'static str, &'static str)| {
            let of = judgements.iter().filter(|judgement| judgement.standing.name() == name);
            Part { name, what, score: Self::of(of) }
        };
        Standing::NAMES.into_iter().zip(what).map(part).collect()
    }

    pub(super) const fn all(&self) -> usize {
        self.checked() + self.unknown
    }

    /// Claims on which the results say something.
    pub(super) const fn checked(&self) -> usize {
        self.holds + self.narrowly + self.depends + self.fails
    }
}
