use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Input, Instant, Links, Machine, Route, Seed, Sink};

use crate::agent::Agent;
use crate::cross::{Change, Cross, Side};
use crate::interface::{Application, Command, Event, Failure, TransportOrder};
use crate::sip::{
    APPLICATION, AppliConfig, ClientId, Contact, Dialog, GATEWAY_ENDS, Happening, Message, REASON, ServerId,
    SipConfig, TerminalSettings,
};
use crate::supervision::{Finding, Supervision};
use crate::transition::Ufa;

/// What it takes.
const METHODS: &str = "INVITE, ACK, CANCEL, OPTIONS, BYE";

/// How long the way may take. The target does not wait for longer, either.
const LONGEST_MOVE: Duration = Duration::from_secs(40);

/// How a terminal is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TerminalConfig {
    /// Its SIP address to begin with.
    pub address: SocketAddr,
    /// The SIP address of the gateway that it is at.
    pub gateway: SocketAddr,
    /// How long it takes from having the new address to message 8 (D4 of the paper).
    pub detection: Duration,
    /// How it speaks SIP.
    pub sip: SipConfig,
}

/// The host that moves: it has a session for its association, and goes where message 7A says.
#[derive(Debug)]
pub struct Terminal {
    config: TerminalConfig,
    agent: Agent,
    cross: Cross,
    links: Links,
    /// Where it is: the last one that has taken it.
    gateway: SocketAddr,
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    application: Application,
    dialog: Dialog,
    state: State,
    supervision: Supervision,
}

impl Session {
    /// Whether a request belongs to it, and comes from where it leads.
    fn is_of(&self, request: &Message, from: SocketAddr) -> bool {
        let target = self.dialog.target();
        self.dialog.is_of(request, target.transport) && from.ip() == target.address.ip()
    }

    /// Whether it is where its gateway is: also if message 7A is to come still.
    const fn is_at_gateway(&self) -> bool {
        matches!(self.state, State::Stable | State::Offered { .. })
    }
}

#[derive(Debug)]
enum State {
    /// INVITE has been sent.
    Calling(ClientId),
    /// At a gateway.
    Stable,
    /// Message 6A has been sent; its ACK is message 7A.
    Offered { transaction: ServerId, config: AppliConfig, settings: TerminalSettings },
    /// On the way; `due` is when message 8 leaves, once the address is there.
    Moving { config: AppliConfig, gateway: SocketAddr, due: Option<Instant>, until: Instant },
    /// Message 8 has been sent.
    Arriving { transaction: ClientId, address: IpAddr },
    /// Nobody has answered message 8, or it was refused.
    Lost,
}

impl Terminal {
    /// One without a session.
    pub fn new(config: TerminalConfig, seed: &Seed) -> Self {
        let agent = Agent::new(config.address, config.sip, METHODS, seed);
        // Nobody moves towards a terminal, so nothing is asked of the transition.
        let cross = Cross::new(Box::new(Ufa));
        Self { gateway: config.gateway, config, agent, cross, links: Links::default(), session: None }
    }

    /// Whether a session is up and goes on where it is.
    pub fn is_stable(&self) -> bool {
        self.session.as_ref().is_some_and(|session| matches!(session.state, State::Stable))
    }

    const fn contact(&self, address: SocketAddr) -> Contact {
        Contact { address, transport: self.config.sip.transport }
    }

    /// The application's association is up: it gets a session.
    fn call(&mut self, now: Instant, application: Application) {
        if self.session.is_some() {
            return;
        }
        let (call_id, tag) = (self.agent.token(), self.agent.token());
        let (names, gateway) = (["terminal", "correspondent"], self.contact(self.gateway));
        let mut dialog = Dialog::opening(&call_id, &tag, names, gateway);
        let asked =
            self.agent.request(now, &mut dialog, "INVITE", |request| request.with(APPLICATION, application));
        if let Some(transaction) = asked {
            let supervision = Supervision::new(self.config.sip.supervision, now);
            self.session =
                Some(Session { application, dialog, state: State::Calling(transaction), supervision });
        }
    }

    fn handle(&mut self, now: Instant, happening: Happening) {
        match happening {
            Happening::Request { transaction, message, route } => match message.method().to_string().as_str()
            {
                "INVITE" => self.offered(now, transaction, &message, route.remote),
                "CANCEL" => self.agent.agree_to_cancel(now, transaction, &message),
                "OPTIONS" => self.agent.respond(now, transaction, &message, 200, |answer| answer),
                "BYE" => self.ended(now, transaction, &message, route.remote),
                _ => self.agent.refuse_method(now, transaction, &message),
            },
            Happening::Response { transaction, message } => self.answered(now, transaction, Some(&message)),
            Happening::TimedOut(transaction) => self.answered(now, transaction, None),
            // How far the gateway is with its own call changes nothing here.
            Happening::Progress { .. } => {}
            Happening::Acknowledged(transaction) => self.go(now, transaction),
            // The source has asked and then fallen silent: it has nothing more to say, and we stay.
            Happening::NeverAcknowledged(transaction) => {
                if let Some(session) = &mut self.session
                    && matches!(session.state, State::Offered { transaction: asked, .. } if asked == transaction)
                {
                    session.state = State::Stable;
                }
            }
        }
    }

    /// Message 5A. Only the gateway that it is at may say this: those before it know the dialog, too.
    fn offered(&mut self, now: Instant, transaction: ServerId, request: &Message, from: SocketAddr) {
        let Self { agent, session, .. } = self;
        let Some(session) = session.as_mut().filter(|session| session.is_of(request, from)) else {
            return agent.respond(now, transaction, request, 481, |answer| answer);
        };
        let later = session.dialog.follows(request);
        let status = match (later, &session.state, AppliConfig::of(request), TerminalSettings::of(request)) {
            (false, ..) => 500,
            (_, State::Stable, Ok(config), Ok(settings))
                if config.add == settings.address && config.delete == agent.address.ip() =>
            {
                session.state = State::Offered { transaction, config, settings };
                200
            }
            (_, State::Stable, ..) => 488,
            _ => 491,
        };
        agent.respond(now, transaction, request, status, |answer| answer);
    }

    /// Message 7A: the new address is valid, and layers 2 and 3 go there.
    fn go(&mut self, now: Instant, acknowledged: ServerId) {
        let Some(session) = &mut self.session else { return };
        let State::Offered { transaction, config, settings } = &session.state else { return };
        if *transaction != acknowledged {
            return;
        }
        let (config, settings) = (*config, settings.clone());
        let gateway = SocketAddr::new(settings.gateway, self.config.sip.transport.port());
        session.state = State::Moving { config, gateway, due: None, until: now + LONGEST_MOVE };
        self.cross.we_move(&session.application, config.add);
        self.agent.tell(Event::Move(config, settings));
        // It may have been there all the time.
        self.look_around(now);
    }

    /// The address that is waited for may be there.
    fn look_around(&mut self, now: Instant) {
        if let Some(Session { state: State::Moving { config, due: due @ None, .. }, .. }) = &mut self.session
            && self.links.usable().any(|(address, _)| address.ip() == config.add)
        {
            *due = Some(now + self.config.detection);
        }
    }

    /// The address that the gateway knows is gone, and nobody has said where to go: another session of this host may have been moved, or its link is lost.
    fn miss_own_address(&mut self, now: Instant) {
        let own = self.agent.address.ip();
        if let Some(Session { state: State::Stable, supervision, .. }) = &mut self.session
            && !self.links.usable().any(|(address, _)| address.ip() == own)
        {
            let finding = supervision.lose();
            self.found(now, finding);
        }
    }

    /// The new address will not be there. The correspondent has gone there: what becomes of the association is SCTP's business from now on.
    fn give_up(&mut self) {
        if let Some(session) = &mut self.session
            && let State::Moving { config, .. } = session.state
        {
            session.state = State::Lost;
            self.cross.we_stay(&session.application, config.add);
            self.agent.tell(Event::Lost(config.add, Failure::NotCome));
        }
    }

    /// Message 8.
    fn arrive(&mut self, now: Instant) {
        let Some(session) = &mut self.session else { return };
        let State::Moving { config, gateway, due, until } = session.state else { return };
        if due.is_none_or(|due| due > now) {
            if until <= now {
                self.give_up();
            }
            return;
        }
        self.agent.address = SocketAddr::new(config.add, self.config.address.port());
        session.dialog.set_target(Contact { address: gateway, transport: self.config.sip.transport });
        self.cross.we_have_moved(&session.application, &config);
        session.application = session.application.at(config.add);
        let asked = self.agent.request(now, &mut session.dialog, "INVITE", |request| request);
        session.state = match asked {
            Some(transaction) => State::Arriving { transaction, address: config.add },
            None => State::Lost,
        };
    }

    /// An INVITE of ours has been answered, or has not.
    fn answered(&mut self, now: Instant, answered: ClientId, response: Option<&Message>) {
        let Some(session) = &mut self.session else { return };
        if let Some(finding) = session.supervision.answered(answered, response) {
            return self.found(now, finding);
        }
        let failure = match response.map(Message::status) {
            None => Some(Failure::NoAnswer),
            Some(status) => (status >= 300).then_some(Failure::Status(status)),
        };
        match (&session.state, failure) {
            (State::Calling(transaction), _) if *transaction == answered => {
                let application = session.application;
                if let Some(failure) = failure {
                    self.session = None;
                    return self.agent.tell(Event::Refused(application, failure));
                }
                session.state = State::Stable;
                if let Some(response) = response {
                    session.dialog.confirm(response);
                    self.agent.acknowledge(answered, &session.dialog, response);
                }
                self.agent.tell(Event::Established(application));
            }
            (State::Arriving { transaction, address }, _) if *transaction == answered => {
                let address = *address;
                if let Some(failure) = failure {
                    session.state = State::Lost;
                    return self.agent.tell(Event::Lost(address, failure));
                }
                session.state = State::Stable;
                self.gateway = session.dialog.target().address;
                session.supervision = Supervision::new(self.config.sip.supervision, now);
                if let Some(response) = response {
                    self.agent.acknowledge(answered, &session.dialog, response);
                }
                self.agent.tell(Event::Arrived(address));
            }
            _ => {}
        }
    }

    /// The association has ended, and with it its session.
    fn close(&mut self, now: Instant, application: &Application) {
        if let Some(mut session) = self.session.take_if(|session| session.application == *application)
            && !matches!(session.state, State::Calling(_))
        {
            self.agent.request(now, &mut session.dialog, "BYE", |request| request);
            self.agent.tell(Event::Ended(session.application));
        }
    }

    /// The gateway, or the correspondent behind it, ends the session.
    fn ended(&mut self, now: Instant, transaction: ServerId, request: &Message, from: SocketAddr) {
        let goes = self.config.sip.supervision.is_some() && request.header(REASON) == Some(GATEWAY_ENDS);
        if let Some(session) = self.session.as_mut().filter(|session| goes && session.is_of(request, from))
            && matches!(session.state, State::Stable)
        {
            // The association goes on. It is asked as before whether the gateway is there, until one that knows nothing of the session answers.
            let finding = session.supervision.lose();
            self.agent.respond(now, transaction, request, 200, |answer| answer);
            return self.found(now, finding);
        }
        let ended = self.session.take_if(|session| session.is_of(request, from));
        let status = if ended.is_some() { 200 } else { 481 };
        self.agent.respond(now, transaction, request, status, |answer| answer);
        if let Some(session) = ended {
            self.agent.tell(Event::Ended(session.application));
        }
    }

    /// Asks the gateway whether it is there, if it is time to.
    fn supervise(&mut self, now: Instant) {
        let Some(session) = self.session.as_mut().filter(|session| session.is_at_gateway()) else { return };
        let (due, finding) = session.supervision.pass(now);
        if due {
            let asked = self.agent.request(now, &mut session.dialog, "OPTIONS", |request| request);
            session.supervision.ask(asked);
        }
        self.found(now, finding);
    }

    fn found(&mut self, now: Instant, finding: Option<Finding>) {
        match finding {
            Some(Finding::Silent) => self.agent.tell(Event::GatewaySilent),
            // One that it has left may still answer.
            Some(Finding::Back) if self.session.as_ref().is_some_and(Session::is_at_gateway) => {
                self.agent.tell(Event::GatewayBack);
            }
            None | Some(Finding::Back) => {}
            Some(Finding::Forgotten) => {
                if let Some(session) = self.session.take_if(|session| matches!(session.state, State::Stable))
                {
                    self.call(now, session.application);
                }
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let due = match &self.session {
            Some(Session { state: State::Moving { due, until, .. }, .. }) => {
                Some(due.unwrap_or(*until).min(*until))
            }
            Some(session) if session.is_at_gateway() => session.supervision.next_deadline(),
            _ => None,
        };
        let transactions = self.agent.transactions.next_deadline();
        [due, transactions, self.cross.next_deadline()].into_iter().flatten().min()
    }

    /// Whether what arrives on this route is SIP.
    pub fn is_sip(&self, route: Route) -> bool {
        route.local.port() == self.config.address.port()
    }
}

impl Machine for Terminal {
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
                Input::Links(links) => {
                    self.links = links.clone();
                    self.look_around(now);
                    self.miss_own_address(now);
                }
                Input::Command(Command::Transport(event)) => {
                    match self.cross.handle_transport(now, &event, Side::Terminal) {
                        Some(Change::Up(application)) => self.call(now, application),
                        Some(Change::Down(application)) => self.close(now, &application),
                        None => {}
                    }
                }
                Input::Command(Command::CannotMove) => self.give_up(),
                Input::Command(_) | Input::Unreachable { .. } | Input::Timeout => {}
            }
        }
        self.agent.transactions.handle_timeout(now);
        while let Some(happening) = self.agent.poll(now) {
            self.handle(now, happening);
        }
        self.arrive(now);
        self.supervise(now);
        self.cross.handle_timeout(now);
        for order in self.cross.take_orders() {
            self.agent.tell(Event::Transport(TransportOrder(order)));
        }
        self.agent.drain(sink);
        self.next_deadline()
    }

    fn links(&self) -> Links {
        self.links.clone()
    }
}
