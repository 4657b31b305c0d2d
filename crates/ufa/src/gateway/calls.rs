//! Sessions are set up: a terminal's INVITE is passed on to its correspondent, and the answer back.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use whimbrel_machine::Instant;

use super::session::{Call, Session, State};
use super::{Gateway, SESSIONS_MAX, SESSIONS_PER_HOST};
use crate::interface::{Application, Event, Failure};
use crate::sip::{APPLICATION, Contact, Dialog, Message, ServerId};

impl Gateway {
    /// A terminal that is here calls its correspondent.
    pub(super) fn call(&mut self, now: Instant, transaction: ServerId, request: &Message, from: Contact) {
        let application = request.header(APPLICATION).and_then(|text| text.parse::<Application>().ok());
        let somebody = |application: &Application| self.is_called(application.correspondent.ip());
        let Some(application) = application.filter(somebody) else {
            return self.agent.respond(now, transaction, request, 488, |answer| answer);
        };
        // A session decides where an association goes: nobody has one for that of another host.
        // Nor at the place that is kept for a terminal which is still to come.
        let is_kept = self.allocations.expected().any(|address| address == from.address.ip());
        if application.terminal.ip() != from.address.ip() || is_kept {
            return self.agent.respond(now, transaction, request, 403, |answer| answer);
        }
        let known = self.sessions.iter().any(|session| session.application == application);
        let of_host = self.sessions.iter().filter(|session| session.is_at(from.address.ip())).count();
        if known || of_host >= SESSIONS_PER_HOST || self.sessions.len() >= SESSIONS_MAX {
            return self.agent.respond(now, transaction, request, 486, |answer| answer);
        }
        let (tag, other_tag, call_id) = (self.agent.token(), self.agent.token(), self.agent.token());
        let to_terminal = Dialog::opened(request, &tag, from);
        // Of the same kind: who speaks in clear speaks to those who do.
        let address = SocketAddr::new(application.correspondent.ip(), from.transport.port());
        let correspondent = Contact { address, ..from };
        let names = ["terminal", "correspondent"];
        let mut to_correspondent = Dialog::opening(&call_id, &other_tag, names, correspondent);
        let passed_on = self
            .agent
            .request(now, &mut to_correspondent, "INVITE", |request| request.with(APPLICATION, application));
        let Some(passed_on) = passed_on else {
            return self.agent.respond(now, transaction, request, 503, |answer| answer);
        };
        // Whoever waits longer than T1 would ask again (RFC 3261 §17.2.1).
        self.agent.respond(now, transaction, request, 100, |answer| answer);
        let state = State::Calling(Box::new(Call { transaction, request: request.clone(), tag, passed_on }));
        let terminal = from.address.ip();
        self.sessions.push(Session {
            application,
            terminal,
            to_terminal,
            to_correspondent,
            state,
            heard: now,
        });
    }

    /// Whether there can be a correspondent at this address: the gateway's own host is none, and no group of hosts is one.
    fn is_called(&self, correspondent: IpAddr) -> bool {
        let own = correspondent == self.config.address.ip() || correspondent.is_loopback();
        let nobody = correspondent.is_unspecified() || correspondent.is_multicast();
        !own && !nobody && correspondent != IpAddr::V4(Ipv4Addr::BROADCAST)
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
        let Call { transaction, request, tag, passed_on } = *call;
        match response.filter(|_| status < 300) {
            Some(response) => {
                session.to_correspondent.confirm(response);
                self.agent.acknowledge(passed_on, &session.to_correspondent, response);
                self.agent.respond_as(now, transaction, &request, 200, &tag, |answer| answer);
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
