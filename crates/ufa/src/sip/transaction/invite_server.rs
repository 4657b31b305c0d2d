use core::time::Duration;

use whimbrel_machine::Instant;

use super::server::{ServerState, ServerVerdict};
use super::{Elapsed, Timers};

/// RFC 3261 §17.2.1 and RFC 6026 §7.1. That a 2xx is sent until it is acknowledged (RFC 3261 §13.3.1.4) is done here, too.
#[derive(Debug)]
pub(super) struct InviteServer {
    timers: Timers,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// No final response yet.
    Proceeding,
    /// A final response is sent again (timer G) until its ACK has come, or none has (timer H).
    Answered { success: bool, resend: Instant, interval: Duration, give_up: Instant },
    /// The ACK has come; what comes of INVITE and ACK is absorbed (timers I and L).
    Confirmed { until: Instant },
}

impl InviteServer {
    pub(super) const fn new(timers: Timers) -> Self {
        Self { timers, state: State::Proceeding }
    }
}

impl ServerState for InviteServer {
    fn on_repeated(&mut self) -> ServerVerdict {
        match self.state {
            // Of a provisional response, if there is one.
            State::Proceeding | State::Answered { .. } => ServerVerdict::Resend,
            State::Confirmed { .. } => ServerVerdict::Absorbed,
        }
    }

    fn on_ack(&mut self, now: Instant, of_success: bool) -> ServerVerdict {
        let State::Answered { success, give_up, .. } = self.state else { return ServerVerdict::Absorbed };
        if success != of_success {
            return ServerVerdict::Absorbed;
        }
        let until = if success { give_up } else { now + self.timers.acknowledged };
        self.state = State::Confirmed { until };
        if success { ServerVerdict::Acknowledged } else { ServerVerdict::Absorbed }
    }

    fn on_respond(&mut self, now: Instant, status: u16) -> bool {
        if !matches!(self.state, State::Proceeding) {
            return false;
        }
        if status >= 200 {
            let success = status < 300;
            let interval = if success { self.timers.t1 } else { self.timers.first_copy() };
            let patience = self.timers.patience();
            self.state =
                State::Answered { success, resend: now + interval, interval, give_up: now + patience };
        }
        true
    }

    fn on_time(&mut self, now: Instant) -> Elapsed {
        match &mut self.state {
            // Whoever misses the ACK of a refusal has nothing to do about it.
            State::Answered { success, give_up, .. } if *give_up <= now => {
                if *success {
                    Elapsed::TimedOut
                } else {
                    Elapsed::Ended
                }
            }
            State::Answered { resend, interval, .. } if *resend <= now => {
                *interval = interval.saturating_mul(2).min(self.timers.t2);
                *resend = now + *interval;
                Elapsed::Resend
            }
            State::Confirmed { until } if *until <= now => Elapsed::Ended,
            _ => Elapsed::Nothing,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Proceeding => None,
            State::Answered { resend, give_up, .. } => Some(resend.min(give_up)),
            State::Confirmed { until } => Some(until),
        }
    }
}
