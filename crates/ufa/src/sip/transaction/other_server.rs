use whimbrel_machine::Instant;

use super::server::{ServerState, ServerVerdict};
use super::{Elapsed, Timers};

/// RFC 3261 §17.2.2.
#[derive(Debug)]
pub(super) struct OtherServer {
    timers: Timers,
    /// Until when the final response is sent again (timer J), once there is one.
    completed: Option<Instant>,
}

impl OtherServer {
    pub(super) const fn new(timers: Timers) -> Self {
        Self { timers, completed: None }
    }
}

impl ServerState for OtherServer {
    fn on_repeated(&mut self) -> ServerVerdict {
        ServerVerdict::Resend
    }

    fn on_ack(&mut self, _now: Instant, _of_success: bool) -> ServerVerdict {
        ServerVerdict::Absorbed
    }

    fn on_respond(&mut self, now: Instant, status: u16) -> bool {
        let open = self.completed.is_none();
        if open && status >= 200 {
            self.completed = Some(now + self.timers.answered);
        }
        open
    }

    fn on_time(&mut self, now: Instant) -> Elapsed {
        if self.completed.is_some_and(|until| until <= now) { Elapsed::Ended } else { Elapsed::Nothing }
    }

    fn deadline(&self) -> Option<Instant> {
        self.completed
    }
}
