use whimbrel_machine::Instant;

use crate::governor::Governor;
use crate::{Decision, Fact, Judge, Pace, Policy, View};

/// A [`Judge`] whose wishes are carried out safely and in measure.
///
/// - Never is the last address deleted, nor the address in use before there is another.
/// - No path is made primary, and no address asked for, that is not known to work. The one exception is a host that has lost
///   every address and got a new one, which has nothing better to offer (break-before-make).
/// - What was refused, lost or put off is asked for again, at a bounded rate.
/// - However wild the facts, moves and requests stay within [`Pace`].
#[derive(Debug)]
pub struct Governed<J> {
    judge: J,
    governor: Governor,
}

impl<J: Judge> Governed<J> {
    /// Carries out what `judge` wishes at this pace.
    pub fn new(judge: J, pace: Pace) -> Self {
        Self { judge, governor: Governor::new(pace) }
    }

    /// The judge.
    pub const fn judge(&self) -> &J {
        &self.judge
    }
}

impl<J: Judge> Policy for Governed<J> {
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        let wish = self.judge.judge(now, fact, view);
        self.governor.carry_out(now, fact, &wish, view)
    }

    fn next_deadline(&self) -> Option<Instant> {
        [self.judge.next_deadline(), self.governor.next_deadline()].into_iter().flatten().min()
    }
}
