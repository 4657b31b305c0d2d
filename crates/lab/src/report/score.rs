//! How many claims hold.

use crate::claims::Verdict;

/// Claims by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Score {
    pub(super) holds: usize,
    pub(super) fails: usize,
    pub(super) unknown: usize,
    /// Of those that hold or do not: from fewer repetitions than usual.
    pub(super) few: usize,
    /// Of those: with a mean that leaves runs out.
    pub(super) part: usize,
}

impl Score {
    pub(super) fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Self {
        let mut score = Self::default();
        for verdict in verdicts {
            score.few += usize::from(!verdict.caution().is_empty());
            score.part += usize::from(!verdict.left_out().is_empty());
            match verdict {
                Verdict::Holds { .. } => score.holds += 1,
                Verdict::DoesNotHold { .. } => score.fails += 1,
                Verdict::CannotSay { .. } => score.unknown += 1,
            }
        }
        score
    }

    pub(super) const fn all(&self) -> usize {
        self.holds + self.fails + self.unknown
    }

    /// Claims on which the results say something.
    pub(super) const fn checked(&self) -> usize {
        self.holds + self.fails
    }
}
