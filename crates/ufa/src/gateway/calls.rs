//! Sessions are set up: a terminal's INVITE is passed on to its correspondent, and the answer back.

use core::net::{IpAddr, Ipv4Addr};

use whimbrel_machine::Instant;

use super::caller::Caller;
use super::session::{Call, Session, State};
use super::{Gateway, SESSIONS_BESIDES_MAX, SESSIONS_MAX, SESSIONS_PER_HOST, SESSIONS_PER_USER};
use crate::interface::{Application, Event, Failure};
use crate::sip::{APPLICATION, ClientId, Dialog, Message, RINGING, RINGING_MAX, ServerId, Transport};

impl Gateway {
    /// A terminal that is here calls its correspondent.
    pub(super) fn call(&mut self, now: Instant, transaction: ServerId, request: &Message, from: &Caller) {
        let application = request.header(APPLICATION).and_then(|text| text.parse::<Application>().ok());
        let somebody = |application: &Application| self.is_called(application);
        let Some(application) = application.filter(somebody) else {
            return self.agent.respond(now, transaction, request, 488, |answer| answer);
        };
        // A session decides where an association goes: nobody has one for that of another host.
        // Nor at the place that is kept for a terminal which is still to come.
        let is_kept = self.allocations.expected().any(|address| address == from.host);
        if application.terminal.ip() != from.host || is_kept {
            return self.agent.respond(now, transaction, request, 403, |answer| answer);
        }
        let known = self.sessions.iter().any(|session| session.application == application);
        let of_host = self.sessions.iter().filter(|session| session.is_at(from.host)).count();
        let full = of_host >= SESSIONS_PER_HOST || self.sessions.len() >= SESSIONS_MAX;
        if known || full || !self.has_share(request, from.source.transport) {
            return self.agent.respond(now, transaction, request, 486, |answer| answer);
        }
        let (tag, other_tag, call_id) = (self.agent.token(), self.agent.token(), self.agent.token());
        let mut to_terminal = Dialog::opened(request, &tag, from.contact);
        to_terminal.set_path(from.path.clone());
        // Of the same kind: who speaks in clear speaks to those who do.
        let callee = self.callee(now, request, &application, from);
        let names = ["terminal", callee.name.as_str()];
        let mut to_correspondent = Dialog::opening(&call_id, &other_tag, names, callee.contact);
        to_correspondent.set_path(callee.path);
        let passed_on = self.agent.request(now, &mut to_correspondent, "INVITE", |asked| {
            asked.with(APPLICATION, application).with_body_of(request)
        });
        let Some(passed_on) = passed_on else {
            return self.agent.respond(now, transaction, request, 503, |answer| answer);
        };
        // Whoever waits longer than T1 would ask again (RFC 3261 §17.2.1).
        self.agent.respond(now, transaction, request, 100, |answer| answer);
        let (until, at_most) = (now + RINGING, now + RINGING_MAX);
        let call = Call { transaction, request: request.clone(), tag, passed_on, until, at_most };
        let state = State::Calling(Box::new(call));
        let terminal = from.host;
        self.sessions.push(Session {
            application,
            terminal,
            to_terminal,
            to_correspondent,
            state,
            heard: now,
            brought_by: None,
        });
    }

    /// Whether there is room for one more session of this user, where it speaks in another way than the usual one.
    fn has_share(&self, request: &Message, transport: Transport) -> bool {
        if !self.agent.is_besides(transport) {
            return true;
        }
        let alike = || {
            let dialogs = self.sessions.iter().map(|session| &session.to_terminal);
            dialogs.filter(|dialog| self.agent.is_besides(dialog.target().transport))
        };
        let of_user = alike().filter(|dialog| dialog.other_user() == request.from_user()).count();
        alike().count() < SESSIONS_BESIDES_MAX && of_user < SESSIONS_PER_USER
    }

    /// Whether there can be a correspondent there: the gateway's own host is none, no group of hosts is one, and an association has ports and one family.
    fn is_called(&self, application: &Application) -> bool {
        let Application { terminal, correspondent } = application;
        let (own, ip) = (self.config.address.ip(), correspondent.ip());
        let family = ip.is_ipv4() == own.is_ipv4() && ip == ip.to_canonical();
        let here = ip == own || ip.is_loopback();
        let nobody = ip.is_unspecified() || ip.is_multicast() || self.is_broadcast(ip);
        terminal.port() > 0 && correspondent.port() > 0 && family && !here && !nobody
    }

    /// Whether all hosts have this address, of any network or of the gateway's own.
    fn is_broadcast(&self, ip: IpAddr) -> bool {
        let (IpAddr::V4(ip), IpAddr::V4(own), IpAddr::V4(mask)) =
            (ip, self.config.address.ip(), self.config.access.netmask)
        else {
            return false;
        };
        // Networks of two addresses have none for all (RFC 3021), and those of one neither.
        let of_network = own.to_bits() | !mask.to_bits();
        ip == Ipv4Addr::BROADCAST || (mask.to_bits().trailing_zeros() > 1 && ip.to_bits() == of_network)
    }

    /// It rings, or something else goes on at the correspondent: the terminal is told (RFC 3261 §16.7 has proxies pass such answers on), and waits for longer (item 2).
    pub(super) fn rings(&mut self, now: Instant, passed_on: ClientId, response: &Message) {
        let mut calls = self.sessions.iter_mut().filter_map(|session| match &mut session.state {
            State::Calling(call) => Some(call),
            _ => None,
        });
        if let Some(call) = calls.find(|call| call.passed_on == passed_on) {
            call.until = call.at_most.min(now + RINGING);
            let Call { transaction, request, tag, .. } = &**call;
            let passed = |answer: Message| answer.with_body_of(response);
            self.agent.respond_as(now, *transaction, request, response.status(), tag, passed);
        }
    }

    pub(super) fn is_calling(&self, at: usize) -> bool {
        matches!(self.sessions[at].state, State::Calling(_) | State::CalledOff { .. })
    }

    /// CANCEL (RFC 3261 §9.2). That it is of a call which is known is certain; it may have been answered already.
    pub(super) fn cancelled(&mut self, now: Instant, transaction: ServerId, cancel: &Message, from: &Caller) {
        let ours = |session: &Session| match &session.state {
            State::Calling(call) => {
                let request = &call.request;
                let named = (request.branch(), request.call_id()) == (cancel.branch(), cancel.call_id());
                named
                    && session.is_at(from.host)
                    && session.to_terminal.target().transport.is_like(from.source.transport)
            }
            _ => false,
        };
        let at = self.sessions.iter().position(ours);
        match at.map(|at| (at, &self.sessions[at].state)) {
            Some((at, State::Calling(call))) => {
                // Both answers have one tag.
                let tag = call.tag.clone();
                self.agent.respond_as(now, transaction, cancel, 200, &tag, |answer| answer);
                self.call_off(now, at, 487, Failure::Ended);
            }
            _ => self.agent.agree_to_cancel(now, transaction, cancel),
        }
    }

    /// The terminal does not want to be answered any more, the gateway ends, or it has rung for long enough: the terminal is answered by `status`. The
    /// correspondent is told, and has as long as RFC 3261 §9.1 gives it.
    pub(super) fn call_off(&mut self, now: Instant, at: usize, status: u16, failure: Failure) {
        let State::Calling(call) = &self.sessions[at].state else { return };
        let Call { transaction, request, tag, passed_on, .. } = (**call).clone();
        let until = now + self.config.sip.timers.patience();
        self.sessions[at].state = State::CalledOff { passed_on, until };
        self.agent.respond_as(now, transaction, &request, status, &tag, |answer| answer);
        self.agent.transactions.cancel(now, passed_on);
        self.agent.tell(Event::Refused(self.sessions[at].application, failure));
    }

    /// The correspondent has answered what the terminal has called off. If it has taken the call, that is over at once (RFC 3261 §15).
    pub(super) fn called_off_answered(&mut self, now: Instant, at: usize, response: Option<&Message>) {
        let mut session = self.sessions.remove(at);
        let State::CalledOff { passed_on, .. } = session.state else { return };
        if let Some(accepted) = response.filter(|response| response.status() < 300) {
            session.accepted(&self.agent, accepted);
            self.agent.acknowledge(passed_on, &session.to_correspondent, accepted);
            self.agent.request(now, &mut session.to_correspondent, "BYE", |request| request);
        }
    }

    /// The correspondent has answered.
    pub(super) fn call_answered(&mut self, now: Instant, at: usize, response: Option<&Message>) {
        let session = &mut self.sessions[at];
        let State::Calling(call) = core::mem::replace(&mut session.state, State::Stable) else { return };
        let status = match response.map_or(408, Message::status) {
            // What it asks for the gateway has not, and the terminal was not asked.
            401 | 407 => 403,
            status => status,
        };
        let Call { transaction, request, tag, passed_on, .. } = *call;
        match response.filter(|_| status < 300) {
            Some(response) => {
                session.accepted(&self.agent, response);
                self.agent.acknowledge(passed_on, &session.to_correspondent, response);
                let passed = |answer: Message| answer.with_body_of(response);
                self.agent.respond_as(now, transaction, &request, 200, &tag, passed);
                let (application, terminal) = (session.application, session.terminal);
                let throughput = self.allocations.offer();
                self.allocations.welcome(terminal, throughput);
                self.agent.tell(Event::Established(application));
            }
            None => {
                let application = session.application;
                self.sessions.remove(at);
                self.agent.respond(now, transaction, &request, status, |answer| answer);
                let failure =
                    response.map_or(Failure::NoAnswer, |response| Failure::Status(response.status()));
                self.agent.tell(Event::Refused(application, failure));
            }
        }
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
