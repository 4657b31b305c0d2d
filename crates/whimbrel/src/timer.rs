use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant as TokioInstant, Sleep, sleep_until};
use whimbrel_machine::Instant;

use crate::clock::Clock;

/// Wakes the driver at the machine's next deadline.
///
/// Deadlines mostly move later (each acknowledgement restarts a retransmission timer). Such a move leaves the alarm
/// where it is and costs one idle wake-up per period instead of a walk through the runtime's timer wheel per packet.
#[derive(Debug)]
pub(crate) struct Timer {
    clock: Clock,
    deadline: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
    /// The machine time the alarm is set to; `None` when it is spent.
    armed: Option<Instant>,
}

impl Timer {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, deadline: None, alarm: Box::pin(sleep_until(TokioInstant::now())), armed: None }
    }

    pub(crate) fn set(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Something else is due then, unless the deadline comes first.
    pub(crate) fn no_later(&mut self, at: Option<Instant>) {
        self.deadline = self.deadline.into_iter().chain(at).min();
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Makes sure that the task is woken no later than the deadline. True if the deadline has come already.
    pub(crate) fn arm(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = self.deadline else { return false };
        loop {
            if self.armed.is_none_or(|armed| armed > deadline) {
                let Some(at) = self.clock.to_tokio(deadline) else { return false };
                self.alarm.as_mut().reset(at);
                self.armed = Some(deadline);
            }
            match self.alarm.as_mut().poll(cx) {
                Poll::Pending => return false,
                Poll::Ready(()) => {
                    self.armed = None;
                    // The runtime's timers count milliseconds; never spin on a deadline a little ahead.
                    if self.clock.now() + Duration::from_micros(1) >= deadline {
                        return true;
                    }
                }
            }
        }
    }
}
