use core::net::SocketAddr;

use whimbrel_machine::{Input, Instant, Machine, Route, Seed, Sink};

use crate::agent::Agent;
use crate::cross::{Change, Cross, Side};
use crate::interface::{Application, Command, Event, TransportOrder};
use crate::sip::{
    APPLICATION, AppliConfig, BDP, Contact, Dialog, Happening, Message, ServerId, SipConfig, Transport,
    number,
};
use crate::transition::Transition;

/// What it takes.
const METHODS: &str = "INVITE, ACK, CANCEL, OPTIONS, UPDATE, BYE";

/// Sessions at most.
const SESSIONS_MAX: usize = 1024;

/// The host that a terminal talks to: it answers SIP, and has its SCTP go where message 7 says.
#[derive(Debug)]
pub struct Correspondent {
    transport: Transport,
    agent: Agent,
    cross: Cross,
    sessions: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    application: Application,
    dialog: Dialog,
    /// Message 6 has been sent; its ACK is message 7.
    offered: Option<Offer>,
}

#[derive(Debug)]
struct Offer {
    transaction: ServerId,
    config: AppliConfig,
    bdp: Option<u64>,
}

impl Correspondent {
    /// At this SIP address; `transition` says what becomes of data when terminals move.
    pub fn new(address: SocketAddr, sip: SipConfig, transition: Box<dyn Transition>, seed: &Seed) -> Self {
        let (transport, agent) = (sip.transport, Agent::new(address, sip, METHODS, seed));
        Self { transport, agent, cross: Cross::new(transition), sessions: Vec::new() }
    }

    fn handle(&mut self, now: Instant, happening: Happening) {
        match happening {
            Happening::Request { transaction, message, route } => match message.method().to_string().as_str()
            {
                "INVITE" if message.to_tag().is_none() => {
                    self.begin(now, transaction, &message, self.at(route));
                }
                "INVITE" => self.offer(now, transaction, &message, self.at(route)),
                "CANCEL" => self.agent.agree_to_cancel(now, transaction, &message),
                "OPTIONS" => self.agent.respond(now, transaction, &message, 200, |answer| answer),
                "UPDATE" => self.update(now, transaction, &message, self.at(route)),
                "BYE" => self.end(now, transaction, &message),
                _ => self.agent.refuse_method(now, transaction, &message),
            },
            Happening::Acknowledged(transaction) => self.apply(transaction),
            // What was offered and never confirmed is not done.
            Happening::NeverAcknowledged(transaction) => {
                for session in &mut self.sessions {
                    session.offered.take_if(|offer| offer.transaction == transaction);
                }
            }
            Happening::Progress { .. } | Happening::Response { .. } | Happening::TimedOut(_) => {}
        }
    }

    const fn at(&self, route: Route) -> Contact {
        Contact { address: route.remote, transport: self.transport }
    }

    fn begin(&mut self, now: Instant, transaction: ServerId, request: &Message, from: Contact) {
        let application = request.header(APPLICATION).and_then(|text| text.parse::<Application>().ok());
        let Some(application) = application else {
            return self.agent.respond(now, transaction, request, 488, |answer| answer);
        };
        if self.sessions.len() >= SESSIONS_MAX {
            return self.agent.respond(now, transaction, request, 486, |answer| answer);
        }
        let application = self.cross.name(application);
        // A gateway may have been started anew; another one must be handed the session.
        let others = |session: &Session| {
            session.application == application && session.dialog.target().address.ip() != from.address.ip()
        };
        if self.sessions.iter().any(others) {
            return self.agent.respond(now, transaction, request, 403, |answer| answer);
        }
        let tag = self.agent.token();
        let dialog = Dialog::opened(request, &tag, from);
        self.sessions.retain(|session| session.application != application);
        self.sessions.push(Session { application, dialog, offered: None });
        self.agent.respond_as(now, transaction, request, 200, &tag, |answer| answer);
        self.agent.tell(Event::Established(application));
    }

    /// Message 5.
    fn offer(&mut self, now: Instant, transaction: ServerId, request: &Message, from: Contact) {
        let Self { agent, sessions, transport, .. } = self;
        let ours = |session: &&mut Session| session.dialog.is_of(request, from.transport);
        let Some(session) = sessions.iter_mut().find(ours) else {
            return agent.respond(now, transaction, request, 481, |answer| answer);
        };
        // Those before it know the dialog, too. Over UDP anybody could say that it is this one.
        if *transport == Transport::Tls && session.dialog.target().address.ip() != from.address.ip() {
            return agent.respond(now, transaction, request, 403, |answer| answer);
        }
        if !session.dialog.follows(request) {
            // RFC 3261 §12.2.2.
            return agent.respond(now, transaction, request, 500, |answer| answer);
        }
        if session.offered.is_some() {
            // RFC 3261 §14.2.
            return agent.respond(now, transaction, request, 491, |answer| answer);
        }
        let Ok(config) = AppliConfig::of(request) else {
            return agent.respond(now, transaction, request, 488, |answer| answer);
        };
        session.dialog.set_target(from);
        session.offered = Some(Offer { transaction, config, bdp: number(request, BDP).ok() });
        agent.respond(now, transaction, request, 200, |answer| answer);
    }

    /// The session leads through another gateway from now on (RFC 3311 §5.2).
    fn update(&mut self, now: Instant, transaction: ServerId, request: &Message, from: Contact) {
        let ours = |session: &&mut Session| session.dialog.is_of(request, from.transport);
        let session = self.sessions.iter_mut().find(ours);
        let mut confirmed = None;
        let status = match session {
            None => 481,
            Some(session) => {
                let later = session.dialog.follows(request);
                if later {
                    session.dialog.set_target(from);
                    // The terminal has come there, so that both ends had agreed: message 7 was lost.
                    confirmed = session.offered.as_ref().map(|offer| offer.transaction);
                }
                if later { 200 } else { 500 }
            }
        };
        self.agent.respond(now, transaction, request, status, |answer| answer);
        if let Some(offered) = confirmed {
            self.apply(offered);
        }
    }

    /// Message 7.
    fn apply(&mut self, transaction: ServerId) {
        for session in &mut self.sessions {
            if let Some(offer) = session.offered.take_if(|offer| offer.transaction == transaction) {
                self.cross.peer_moves(&session.application, &offer.config, offer.bdp);
                session.application = session.application.at(offer.config.add);
            }
        }
    }

    fn end(&mut self, now: Instant, transaction: ServerId, request: &Message) {
        let at = self.sessions.iter().position(|session| session.dialog.is_of(request, self.transport));
        let status = if at.is_some() { 200 } else { 481 };
        self.agent.respond(now, transaction, request, status, |answer| answer);
        if let Some(at) = at {
            self.agent.tell(Event::Ended(self.sessions.remove(at).application));
        }
    }

    /// The association has ended, and with it its session.
    fn close(&mut self, now: Instant, application: &Application) {
        let Some(at) = self.sessions.iter().position(|session| session.application == *application) else {
            return;
        };
        let mut session = self.sessions.remove(at);
        self.agent.request(now, &mut session.dialog, "BYE", |request| request);
        self.agent.tell(Event::Ended(session.application));
    }
}

impl Machine for Correspondent {
    type Command = Command;
    type Event = Event;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, Command>>,
        sink: &mut impl Sink<Event>,
    ) -> Option<Instant> {
        for input in inputs {
            match input {
                Input::Datagrams { route, bytes, segment, .. } => {
                    self.agent.handle_datagrams(now, route, bytes, segment);
                }
                Input::Command(Command::Transport(event)) => {
                    if let Some(Change::Down(gone)) =
                        self.cross.handle_transport(now, &event, Side::Correspondent)
                    {
                        self.close(now, &gone);
                    }
                }
                Input::Command(_) | Input::Unreachable { .. } | Input::Links(_) | Input::Timeout => {}
            }
        }
        self.agent.transactions.handle_timeout(now);
        while let Some(happening) = self.agent.poll(now) {
            self.handle(now, happening);
        }
        self.cross.handle_timeout(now);
        for order in self.cross.take_orders() {
            self.agent.tell(Event::Transport(TransportOrder(order)));
        }
        self.agent.drain(sink);
        [self.agent.transactions.next_deadline(), self.cross.next_deadline()].into_iter().flatten().min()
    }
}
