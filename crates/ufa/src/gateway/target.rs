//! A terminal comes: the target answers queries (message 2), takes a session over (4), and lets out what has waited when the terminal is here (8).

use core::net::IpAddr;

use whimbrel_machine::Instant;

use super::allocations::bdp;
use super::caller::Caller;
use super::session::{Session, State};
use super::{Gateway, SESSIONS_MAX};
use crate::interface::{Event, Failure};
use crate::sip::{
    ALLOCATED_THROUGHPUT, APPLI_CONFIG, AppliConfig, BDP, ClientId, Contact, Context, Dialog, Message,
    ServerId, TERMINAL_CONFIG, TerminalSettings,
};

/// A terminal on its way here.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) until: Instant,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The way to the correspondent is measured before message 4.
    Measuring {
        asked: ClientId,
        since: Instant,
        answer: Box<(ServerId, Message)>,
        throughput: u64,
        old: IpAddr,
    },
    /// Message 4 has been sent.
    Expected,
}

impl Arrival {
    /// Message 3, if it is not answered yet.
    pub(super) fn unanswered(self) -> Option<(ServerId, Message)> {
        match self.phase {
            Phase::Measuring { answer, .. } => Some(*answer),
            Phase::Expected => None,
        }
    }

    /// Whether this is the answer that measures the way.
    pub(super) fn awaits(&self, transaction: ClientId) -> bool {
        matches!(self.phase, Phase::Measuring { asked, .. } if asked == transaction)
    }
}

impl Gateway {
    /// Message 1: what there is for a terminal.
    pub(super) fn queried(&mut self, now: Instant, transaction: ServerId, request: &Message) {
        let throughput = if self.stopping { 0 } else { self.allocations.offer() };
        let (status, throughput) = if throughput > 0 { (200, Some(throughput)) } else { (480, None) };
        self.agent.respond(now, transaction, request, status, |answer| match throughput {
            Some(throughput) => answer.with(ALLOCATED_THROUGHPUT, throughput),
            None => answer,
        });
    }

    /// Message 3: a session is to lead through here. Message 4 waits for the way to the correspondent to be measured.
    pub(super) fn take_over(&mut self, now: Instant, transaction: ServerId, request: &Message) {
        let text = core::str::from_utf8(request.body()).ok();
        let context = text.and_then(|text| Context::read(text, self.config.sip.transport).ok());
        let Some(context) = context else {
            return self.agent.respond(now, transaction, request, 400, |answer| answer);
        };
        // What has brought a session here once brings no second one (RFC 3261 §8.2.2.2).
        if self.sessions.iter().any(|session| session.brought_by.as_deref() == Some(request.call_id())) {
            return self.agent.respond(now, transaction, request, 482, |answer| answer);
        }
        // Whoever speaks as is not spoken here, or has another family of addresses, could be told nothing, and message 8 would not be heard. Another gateway may
        // take the terminal.
        let own = self.config.address;
        let is_reached = |end: &Dialog| {
            let Contact { address, transport } = end.target();
            self.agent.speaks(transport) && address.is_ipv4() == own.is_ipv4()
        };
        if ![&context.terminal, &context.correspondent].into_iter().all(is_reached)
            || context.old_address.is_ipv4() != own.is_ipv4()
        {
            return self.agent.respond(now, transaction, request, 488, |answer| answer);
        }
        self.forget_earlier(now, &context);
        let mut dialog = self.measuring_dialog(&context);
        let asked = (self.sessions.len() < SESSIONS_MAX && !self.stopping)
            .then(|| self.agent.request(now, &mut dialog, "OPTIONS", |request| request))
            .flatten();
        let Some(asked) = asked else {
            return self.agent.respond(now, transaction, request, 503, |answer| answer);
        };
        let answer = Box::new((transaction, request.clone()));
        let Context { application, throughput, old_address: old, terminal, correspondent } = context;
        let phase = Phase::Measuring { asked, since: now, answer, throughput, old };
        let until = now + self.config.patience.measuring;
        self.sessions.push(Session {
            application,
            terminal: old,
            to_terminal: terminal,
            to_correspondent: correspondent,
            state: State::Coming(Arrival { until, phase }),
            heard: now,
            brought_by: Some(request.call_id().to_owned()),
        });
    }

    /// A terminal that was expected once and has not come may be expected again.
    fn forget_earlier(&mut self, now: Instant, context: &Context) {
        let earlier = |session: &Session| {
            session.application == context.application && matches!(session.state, State::Coming(_))
        };
        while let Some(at) = self.sessions.iter().position(earlier) {
            self.give_up_on(now, at);
        }
    }

    fn measuring_dialog(&mut self, context: &Context) -> Dialog {
        let (call_id, tag) = (self.agent.token(), self.agent.token());
        let correspondent = context.correspondent.target();
        let mut dialog = Dialog::opening(&call_id, &tag, ["target", "correspondent"], correspondent);
        // Behind proxies it is called by them.
        dialog.set_path(context.correspondent.path().clone());
        dialog
    }

    /// The correspondent has answered, whatever it said: message 4.
    pub(super) fn measured(&mut self, now: Instant, at: usize, response: Option<&Message>) {
        let State::Coming(arrival) = &mut self.sessions[at].state else { return };
        let Phase::Measuring { since, answer, throughput, old, .. } =
            core::mem::replace(&mut arrival.phase, Phase::Expected)
        else {
            return;
        };
        let (transaction, request) = *answer;
        let granted = response.and_then(|_| {
            let bdp = bdp(throughput, now.saturating_since(since), self.config.access.delay);
            Some((self.allocations.expect(now, throughput, bdp)?, bdp))
        });
        let Some((address, bdp)) = granted else {
            self.sessions.remove(at);
            return self.agent.respond(now, transaction, &request, 480, |answer| answer);
        };
        arrival.until = now + self.config.patience.arrival;
        self.sessions[at].terminal = address;
        let settings = self.settings(address);
        self.agent.respond(now, transaction, &request, 200, |answer| {
            answer
                .with(APPLI_CONFIG, AppliConfig { add: address, delete: old })
                .with(TERMINAL_CONFIG, settings)
                .with(ALLOCATED_THROUGHPUT, throughput)
                .with(BDP, bdp)
        });
    }

    fn settings(&self, address: IpAddr) -> TerminalSettings {
        let access = &self.config.access;
        TerminalSettings {
            mac: access.mac,
            essid: access.essid.clone(),
            channel: access.channel,
            gateway: self.config.address.ip(),
            netmask: access.netmask,
            address,
            key: access.key.clone(),
        }
    }

    /// Message 8, or another INVITE within a session.
    pub(super) fn come(&mut self, now: Instant, transaction: ServerId, request: &Message, from: &Caller) {
        let of_terminal = |session: &Session| session.to_terminal.is_of(request, from.source.transport);
        let Some(at) = self.sessions.iter().position(of_terminal) else {
            return self.refuse_change(now, transaction, request, from);
        };
        let Self { agent, sessions, allocations, .. } = self;
        let session = &mut sessions[at];
        if !session.to_terminal.follows(request) {
            return agent.respond(now, transaction, request, 500, |answer| answer);
        }
        session.heard = now;
        if matches!(session.state, State::Stable)
            && session.terminal == from.host
            && AppliConfig::of(request).is_err()
        {
            // RFC 3261 §12.2.2: it is where it was, and has another port or connection.
            session.refresh(from);
            return agent.respond(now, transaction, request, 200, |answer| answer);
        }
        let expected = matches!(&session.state, State::Coming(Arrival { phase: Phase::Expected, .. }));
        if !expected || session.terminal != from.host {
            return agent.respond(now, transaction, request, 491, |answer| answer);
        }
        session.state = State::Stable;
        session.application = session.application.at(from.host);
        session.reached(from);
        if self.config.sip.supervision.is_some() {
            // RFC 3311: the correspondent's own requests come here from now on, and not to the source.
            agent.request(now, &mut session.to_correspondent, "UPDATE", |request| request);
        }
        allocations.arrived(now, from.host);
        agent.respond(now, transaction, request, 200, |answer| answer);
        agent.tell(Event::Arrived(from.host));
    }

    /// It has not been measured in time, or the terminal has not come.
    pub(super) fn arrival_due(&mut self, now: Instant, at: usize) {
        let State::Coming(arrival) = &self.sessions[at].state else { return };
        if let Phase::Measuring { answer, .. } = &arrival.phase {
            let (transaction, request) = (**answer).clone();
            self.sessions.remove(at);
            return self.agent.respond(now, transaction, &request, 480, |answer| answer);
        }
        let terminal = self.sessions[at].terminal;
        self.give_up_on(now, at);
        self.agent.tell(Event::Lost(terminal, Failure::NotCome));
    }

    /// What was kept for it is free again.
    fn give_up_on(&mut self, now: Instant, at: usize) {
        let session = self.sessions.remove(at);
        let State::Coming(arrival) = session.state else { return };
        match arrival.unanswered() {
            Some((transaction, request)) => {
                self.agent.respond(now, transaction, &request, 480, |answer| answer)
            }
            None => self.free(session.terminal),
        }
    }
}
