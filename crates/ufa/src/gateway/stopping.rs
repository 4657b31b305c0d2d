//! A gateway ends in good order: who is on the way gets there, and the ends of all sessions are told.

use whimbrel_machine::Instant;

use super::Gateway;
use super::session::State;
use crate::interface::{Event, Failure};
use crate::sip::{GATEWAY_ENDS, Message, REASON};

impl Gateway {
    /// Nothing new begins. What goes on in a session goes on to its end, and then the session ends.
    pub(super) fn stop(&mut self, now: Instant) {
        self.stopping = true;
        self.part(now);
    }

    /// Whether it has been told to end, and has nothing left to say and to hear.
    pub fn has_stopped(&self) -> bool {
        self.stopping && self.sessions.is_empty() && !self.agent.transactions.awaits_answers()
    }

    /// Whether a request begins something: it is left to the gateway that comes after this one, as requests come again. Other gateways ask elsewhere if they
    /// are told so at once, and are.
    pub(super) fn is_too_late(&self, request: &Message) -> bool {
        let begins = match request.method().to_string().as_str() {
            "INVITE" => request.to_tag().is_none(),
            // Whose session is over would take it that the gateway has been started anew already, and call it.
            "OPTIONS" | "REGISTER" => true,
            _ => false,
        };
        self.stopping && begins
    }

    /// Ends the sessions in which nothing goes on.
    pub(super) fn part(&mut self, now: Instant) {
        if !self.stopping {
            return;
        }
        for at in (0..self.sessions.len()).rev() {
            match &self.sessions[at].state {
                State::Stable => self.take_leave(now, at),
                State::Calling(_) => self.call_off(now, at, 503, Failure::Ended),
                State::CalledOff { .. } | State::Leaving(_) | State::Coming(_) => {}
            }
        }
    }

    /// Tells both ends that it is not they who have ended the session (RFC 3326): the association goes on.
    fn take_leave(&mut self, now: Instant, at: usize) {
        let mut session = self.sessions.remove(at);
        self.free(session.terminal);
        for dialog in [&mut session.to_terminal, &mut session.to_correspondent] {
            self.agent.request(now, dialog, "BYE", |request| request.with(REASON, GATEWAY_ENDS));
        }
        self.agent.tell(Event::Ended(session.application));
    }
}

#[cfg(test)]
#[path = "stopping_tests.rs"]
mod tests;
