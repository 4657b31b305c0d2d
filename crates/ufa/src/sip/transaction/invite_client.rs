use core::time::Duration;

use whimbrel_machine::Instant;

use super::client::{ClientState, ClientVerdict};
use super::{Elapsed, Timers};

/// RFC 3261 §17.1.1 and RFC 6026 §7.2.
#[derive(Debug)]
pub(super) struct InviteClient {
    timers: Timers,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// INVITE is sent again (timer A) until something comes, or nothing has (timer B).
    Calling { resend: Instant, interval: Duration, give_up: Instant },
    /// A provisional response has come.
    Proceeding { give_up: Instant },
    /// A 2xx has come, which may come again (timer M).
    Accepted { until: Instant },
    /// Another final response has come, which may come again (timer D).
    Completed { until: Instant },
}

impl InviteClient {
    pub(super) fn new(now: Instant, timers: Timers) -> Self {
        let interval = timers.first_copy();
        let state = State::Calling { resend: now + interval, interval, give_up: now + timers.patience() };
        Self { timers, state }
    }
}

impl ClientState for InviteClient {
    fn on_response(&mut self, now: Instant, status: u16) -> ClientVerdict {
        match self.state {
            State::Calling { .. } | State::Proceeding { .. } if status < 200 => {
                self.state = State::Proceeding { give_up: now + self.timers.ringing };
                // 100 says only that the request has come (RFC 3261 §21.1.1).
                if status > 100 { ClientVerdict::Progress } else { ClientVerdict::Absorbed }
            }
            State::Calling { .. } | State::Proceeding { .. } if status < 300 => {
                self.state = State::Accepted { until: now + self.timers.patience() };
                ClientVerdict::Told
            }
            State::Calling { .. } | State::Proceeding { .. } => {
                self.state = State::Completed { until: now + self.timers.lull() };
                ClientVerdict::Told
            }
            State::Accepted { .. } if (200..300).contains(&status) => ClientVerdict::Acknowledge,
            State::Completed { .. } if status >= 300 => ClientVerdict::Acknowledge,
            State::Accepted { .. } | State::Completed { .. } => ClientVerdict::Absorbed,
        }
    }

    fn on_time(&mut self, now: Instant) -> Elapsed {
        match &mut self.state {
            State::Calling { give_up, .. } | State::Proceeding { give_up } if *give_up <= now => {
                Elapsed::TimedOut
            }
            State::Calling { resend, interval, .. } if *resend <= now => {
                *interval = interval.saturating_mul(2);
                *resend = now + *interval;
                Elapsed::Resend
            }
            State::Accepted { until } | State::Completed { until } if *until <= now => Elapsed::Ended,
            _ => Elapsed::Nothing,
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Calling { .. } | State::Proceeding { .. })
    }

    fn deadline(&self) -> Option<Instant> {
        Some(match self.state {
            State::Calling { resend, give_up, .. } => resend.min(give_up),
            State::Proceeding { give_up } => give_up,
            State::Accepted { until } | State::Completed { until } => until,
        })
    }
}
