//! Sessions end: because one end says so, or because a terminal is not heard of any more.

use whimbrel_machine::Instant;

use super::Gateway;
use super::caller::Caller;
use super::session::{Session, State};
use crate::interface::{Event, Failure};
use crate::sip::{Dialog, Message, ServerId};

/// How many questions of a terminal may be missing before it is taken for gone.
const QUESTIONS: u32 = 4;

impl Gateway {
    /// OPTIONS: within a session its terminal asks whether we are there, and shows that it is. Without one somebody measures the way.
    pub(super) fn asked(&mut self, now: Instant, transaction: ServerId, request: &Message, from: &Caller) {
        let of_correspondent = self.sessions.iter().any(|session| session.is_with(request, from.source));
        let session = self
            .sessions
            .iter_mut()
            .find(|session| session.to_terminal.is_of(request, from.source.transport));
        let status = match session {
            Some(session) => {
                session.to_terminal.follows(request);
                session.heard = now;
                // It may have a new connection, by which it can be told something.
                if session.is_at(from.host) && matches!(session.state, State::Stable) {
                    session.refresh(from);
                }
                200
            }
            None if request.to_tag().is_none() => 200,
            // RFC 3261 §12.2.2: within a dialog it is answered as outside of one.
            None if of_correspondent => 200,
            None => 481,
        };
        self.agent.respond(now, transaction, request, status, |answer| answer);
    }

    /// BYE: the association is over. The other end is told.
    pub(super) fn ended(&mut self, now: Instant, transaction: ServerId, request: &Message, from: &Caller) {
        let position = |dialog: fn(&Session) -> &Dialog| {
            self.sessions.iter().position(|session| dialog(session).is_of(request, from.source.transport))
        };
        let of_terminal = position(|session| &session.to_terminal);
        let at = of_terminal.or_else(|| position(|session| &session.to_correspondent));
        let status = if at.is_some() { 200 } else { 481 };
        self.agent.respond(now, transaction, request, status, |answer| answer);
        match (at, of_terminal) {
            // It rings, and the terminal hangs up (RFC 3261 §15).
            (Some(at), Some(_)) if self.is_calling(at) => self.call_off(now, at, 487, Failure::Ended),
            (Some(at), _) => self.end(now, at, of_terminal.is_none(), of_terminal.is_some()),
            (None, _) => {}
        }
    }

    /// Ends a session, and says so to the ends that do not know.
    fn end(&mut self, now: Instant, at: usize, tell_terminal: bool, tell_correspondent: bool) {
        let mut session = self.sessions.remove(at);
        let terminal = session.terminal;
        self.free(terminal);
        match session.state {
            // Whoever has ordered it to go, or keeps a place for it, waits for word.
            State::Leaving(_) => self.agent.tell(Event::Stays { terminal, failure: Failure::Ended }),
            State::Coming(arrival) => {
                if let Some((transaction, request)) = arrival.unanswered() {
                    self.agent.respond(now, transaction, &request, 480, |answer| answer);
                }
                self.agent.tell(Event::Lost(terminal, Failure::Ended));
            }
            State::Calling(call) => {
                self.agent.respond(now, call.transaction, &call.request, 487, |answer| answer);
            }
            State::CalledOff { .. } => return,
            State::Stable => {}
        }
        if tell_terminal {
            self.agent.request(now, &mut session.to_terminal, "BYE", |request| request);
        }
        if tell_correspondent {
            self.agent.request(now, &mut session.to_correspondent, "BYE", |request| request);
        }
        self.agent.tell(Event::Ended(session.application));
    }

    /// Nobody has this address any more, unless another session is of the same terminal.
    pub(super) fn free(&mut self, address: core::net::IpAddr) {
        if !self.sessions.iter().any(|session| session.is_at(address)) {
            self.allocations.free(address);
        }
    }

    /// When a terminal that says nothing more is taken for gone.
    pub(super) fn gone_at(&self, session: &Session) -> Option<Instant> {
        let interval = self.config.sip.supervision?;
        matches!(session.state, State::Stable).then(|| session.heard + interval * QUESTIONS)
    }

    /// Ends the sessions of terminals that are gone.
    pub(super) fn end_silent(&mut self, now: Instant) {
        for at in (0..self.sessions.len()).rev() {
            if self.gone_at(&self.sessions[at]).is_some_and(|gone| gone <= now) {
                self.end(now, at, false, true);
            }
        }
    }
}

#[cfg(test)]
#[path = "ending_tests.rs"]
mod tests;
