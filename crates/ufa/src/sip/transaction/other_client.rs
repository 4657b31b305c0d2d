use core::time::Duration;

use whimbrel_machine::Instant;

use super::client::{ClientState, ClientVerdict};
use super::{Elapsed, Timers};

/// RFC 3261 §17.1.2.
#[derive(Debug)]
pub(super) struct OtherClient {
    timers: Timers,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The request is sent again (timer E) until a final response has come, or none has (timer F).
    Trying { resend: Instant, interval: Duration, give_up: Instant },
    /// One has come, which may come again (timer K).
    Completed { until: Instant },
}

impl OtherClient {
    pub(super) fn new(now: Instant, timers: Timers) -> Self {
        let interval = timers.first_copy();
        let state = State::Trying { resend: now + interval, interval, give_up: now + timers.patience() };
        Self { timers, state }
    }
}

impl ClientState for OtherClient {
    fn on_response(&mut self, now: Instant, status: u16) -> ClientVerdict {
        match &mut self.state {
            // From now on it is sent every T2.
            State::Trying { interval, .. } if status < 200 => {
                *interval = self.timers.t2;
                ClientVerdict::Absorbed
            }
            State::Trying { .. } => {
                self.state = State::Completed { until: now + self.timers.t4 };
                ClientVerdict::Told
            }
            State::Completed { .. } => ClientVerdict::Absorbed,
        }
    }

    fn on_time(&mut self, now: Instant) -> Elapsed {
        match &mut self.state {
            State::Trying { give_up, .. } if *give_up <= now => Elapsed::TimedOut,
            State::Trying { resend, interval, .. } if *resend <= now => {
                *interval = interval.saturating_mul(2).min(self.timers.t2);
                *resend = now + *interval;
                Elapsed::Resend
            }
            State::Completed { until } if *until <= now => Elapsed::Ended,
            _ => Elapsed::Nothing,
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Trying { .. })
    }

    fn deadline(&self) -> Option<Instant> {
        Some(match self.state {
            State::Trying { resend, give_up, .. } => resend.min(give_up),
            State::Completed { until } => until,
        })
    }
}
