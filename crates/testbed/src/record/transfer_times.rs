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
    /// When the run ends.
    end: Instant,
    arrived: u64,
    in_time: u64,
    total: Duration,
}

impl TransferTimes {
    /// Of the messages of `schedule`, in a run that ends at `end`.
    pub const fn new(schedule: Schedule, deadline: Option<Duration>, end: Instant) -> Self {
        Self { schedule, deadline, end, arrived: 0, in_time: 0, total: Duration::ZERO }
    }

    /// The next message has been delivered.
    pub fn on_message(&mut self, now: Instant) {
        let Some(made) = self.schedule.made(self.arrived) else { return };
        let took = now.saturating_since(made);
        self.arrived += 1;
        self.total = self.total.saturating_add(took);
        let counts = self.deadline.is_some_and(|deadline| took <= deadline && made + deadline <= self.end);
        self.in_time += u64::from(counts);
    }

    /// The mean of those that arrived, in seconds; `None` if none did.
    pub fn mean(&self) -> Option<f64> {
        (self.arrived > 0).then(|| self.total.as_secs_f64() / self.arrived as f64)
    }

    /// The share of messages that were not there at their deadline, of those whose deadline lies within the run; `None` without
    /// a deadline or such messages.
    pub fn late(&self) -> Option<f64> {
        let deadline = self.deadline?;
        let last = Instant::ZERO + self.end.saturating_since(Instant::ZERO + deadline);
        let due = self.schedule.made_until(last);
        (due > 0).then(|| 1.0 - self.in_time as f64 / due as f64)
    }
}

#[cfg(test)]
#[path = "transfer_times_tests.rs"]
mod tests;
