use core::ops::RangeInclusive;
use core::time::Duration;

use whimbrel_machine::Instant;

use crate::traffic::Schedule;

/// How long messages take from when they are made until they are delivered, in a stream that is in order and loses nothing: the
/// n-th that is delivered is the n-th that was made.
#[derive(Clone, Debug)]
pub struct TransferTimes {
    schedule: Schedule,
    /// Later than so long after it was made, a message is worth nothing.
    deadline: Option<Duration>,
    /// The time that counts.
    run: RangeInclusive<Instant>,
    arrived: u64,
    /// Of those that arrived, the ones that did within the run.
    counted: u64,
    in_time: u64,
    total: Duration,
}

impl TransferTimes {
    /// Of the messages of `schedule`, of which those count that are delivered, or whose deadline lies, within `run`.
    pub const fn new(schedule: Schedule, deadline: Option<Duration>, run: RangeInclusive<Instant>) -> Self {
        Self { schedule, deadline, run, arrived: 0, counted: 0, in_time: 0, total: Duration::ZERO }
    }

    /// The next message has been delivered.
    pub fn on_message(&mut self, now: Instant) {
        let Some(made) = self.schedule.made(self.arrived) else { return };
        let took = now.saturating_since(made);
        self.arrived += 1;
        if self.run.contains(&now) {
            self.counted += 1;
            self.total = self.total.saturating_add(took);
        }
        let in_time = |deadline| took <= deadline && self.run.contains(&(made + deadline));
        self.in_time += u64::from(self.deadline.is_some_and(in_time));
    }

    /// The mean of those that arrived within the run, in seconds; `None` if none did.
    pub fn mean(&self) -> Option<f64> {
        (self.counted > 0).then(|| self.total.as_secs_f64() / self.counted as f64)
    }

    /// The share of messages that were not there at their deadline, of those whose deadline lies within the run; `None` without
    /// a deadline or such messages.
    pub fn late(&self) -> Option<f64> {
        let deadline = self.deadline?;
        let made_until = |nanos: Option<u64>| {
            nanos.map_or(0, |nanos| self.schedule.made_until(Instant::from_nanos(nanos)))
        };
        let deadline = u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX);
        let until_end = made_until(self.run.end().as_nanos().checked_sub(deadline));
        let before = self.run.start().as_nanos().checked_sub(1);
        let due = until_end - made_until(before.and_then(|nanos| nanos.checked_sub(deadline)));
        (due > 0).then(|| 1.0 - self.in_time as f64 / due as f64)
    }
}

#[cfg(test)]
#[path = "transfer_times_tests.rs"]
mod tests;
