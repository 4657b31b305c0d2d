//! The UFA gateway: between its terminals and the world it passes packets on, holds back what is for those who are still to come, and is a SIP
//! back-to-back user agent that prepares and carries out handovers.

mod allocations;
#[cfg(test)]
mod alone;
mod bindings;
mod buffer;
mod caller;
mod calls;
mod config;
mod ending;
mod forward;
mod registrar;
mod session;
mod source;
mod stopping;
#[cfg(test)]
pub(crate) mod supervised;
mod target;
mod within;

use core::net::IpAddr;

use whimbrel_machine::{Input, Instant, Machine, Seed, Sink};

use self::allocations::Allocations;
use self::bindings::Bindings;
use self::caller::Caller;
pub use self::config::{Access, ClearSip, GatewayConfig, Order, Release, Resources};
pub use self::session::SessionView;
use self::session::{Session, State};
use crate::agent::Agent;
use crate::interface::{Command, Event, Failure};
use crate::sip::{CONTEXT_TRANSFER, ClientId, Happening, Message, RESOURCE_QUERY, ServerId};

/// What it takes, and what where agents of others speak to it.
const METHODS: &str = "INVITE, ACK, CANCEL, OPTIONS, BYE, RESOURCE_QUERY, CONTEXT_TRANSFER";
const METHODS_BESIDES: &str = "INVITE, ACK, CANCEL, OPTIONS, BYE, REGISTER, RESOURCE_QUERY, CONTEXT_TRANSFER";

/// Sessions at most, of all and of one address.
const SESSIONS_MAX: usize = 1024;
const SESSIONS_PER_HOST: usize = 16;

/// Where there is another way of speaking besides the usual one, sessions at most of those who use it, and of one user: who speaks in the usual way always
/// finds room.
const SESSIONS_BESIDES_MAX: usize = SESSIONS_MAX / 2;
const SESSIONS_PER_USER: usize = SESSIONS_BESIDES_MAX / 4;

/// A gateway.
#[derive(Debug)]
pub struct Gateway {
    config: GatewayConfig,
    agent: Agent,
    allocations: Allocations,
    bindings: Bindings,
    sessions: Vec<Session>,
    /// Packets that found no room while their terminal was expected.
    overflowed: u64,
    /// It is to end.
    stopping: bool,
}

impl Gateway {
    /// One without terminals.
    pub fn new(config: GatewayConfig, seed: &Seed) -> Self {
        let methods = if config.sip.besides.is_some() { METHODS_BESIDES } else { METHODS };
        Self {
            agent: Agent::new(config.address, config.sip, methods, seed),
            bindings: Bindings::default(),
            allocations: Allocations::new(&config.access, config.resources, config.patience.heard),
            sessions: Vec::new(),
            overflowed: 0,
            stopping: false,
            config,
        }
    }

    /// Bytes that wait for terminals.
    pub fn held_bytes(&self) -> u64 {
        let waiting = |session: &Session| {
            let allocation = self.allocations.get(session.terminal)?;
            allocation.waiting.as_ref().map(buffer::HoldingBuffer::bytes)
        };
        self.sessions.iter().filter_map(waiting).sum()
    }

    /// Packets that found no room while their terminal was expected.
    pub const fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// Packets that wait for the terminal with this address.
    pub fn waiting(&self, terminal: IpAddr) -> usize {
        let allocation = self.allocations.get(terminal);
        allocation.and_then(|allocation| allocation.waiting.as_ref()).map_or(0, buffer::HoldingBuffer::len)
    }

    /// Addresses for which packets wait, or would wait: what is sent there must reach this machine.
    pub fn expected(&self) -> impl Iterator<Item = IpAddr> + '_ {
        self.allocations.expected()
    }

    /// The sessions that lead through it.
    pub fn sessions(&self) -> impl Iterator<Item = SessionView> + '_ {
        self.sessions.iter().map(Session::view)
    }

    /// bit/s that no terminal has.
    #[cfg(test)]
    pub(crate) fn free_throughput(&self) -> u64 {
        self.allocations.free_throughput()
    }

    /// Addresses that somebody has.
    #[cfg(test)]
    pub(crate) fn given(&self) -> Vec<IpAddr> {
        self.allocations.given().collect()
    }

    /// How many places its users have said to be at.
    pub fn registrations(&self) -> usize {
        self.bindings.len()
    }

    /// How many sessions lead through it.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    fn handle(&mut self, now: Instant, happening: Happening) {
        match happening {
            Happening::Request { transaction, message, route } => match self.caller(&message, route) {
                Ok(from) => self.handle_request(now, transaction, &message, &from),
                Err(status) => self.agent.respond(now, transaction, &message, status, |answer| answer),
            },
            Happening::Progress { transaction, message } => self.rings(now, transaction, &message),
            Happening::Response { transaction, message } => self.answered(now, transaction, Some(&message)),
            Happening::TimedOut(transaction) => self.answered(now, transaction, None),
            // The terminal knows that its session is up, or that it has come; if it does not, it will ask again.
            Happening::Acknowledged(_) | Happening::NeverAcknowledged(_) => {}
        }
    }

    fn handle_request(&mut self, now: Instant, transaction: ServerId, request: &Message, from: &Caller) {
        if self.is_too_late(request) {
            return;
        }
        match request.method().to_string().as_str() {
            "INVITE" if request.to_tag().is_none() => self.call(now, transaction, request, from),
            "INVITE" => self.come(now, transaction, request, from),
            "CANCEL" => self.cancelled(now, transaction, request, from),
            "OPTIONS" => self.asked(now, transaction, request, from),
            "REGISTER" if self.agent.is_besides(from.source.transport) => {
                self.register(now, transaction, request, from);
            }
            "BYE" => self.ended(now, transaction, request, from),
            RESOURCE_QUERY => self.queried(now, transaction, request),
            CONTEXT_TRANSFER => self.take_over(now, transaction, request),
            _ => self.agent.refuse_method(now, transaction, request),
        }
    }

    /// A request of ours has been answered, or has not.
    fn answered(&mut self, now: Instant, transaction: ClientId, response: Option<&Message>) {
        for at in (0..self.sessions.len()).rev() {
            match &self.sessions[at].state {
                State::Calling(call) if call.passed_on == transaction => {
                    self.call_answered(now, at, response);
                }
                State::CalledOff { passed_on, .. } if *passed_on == transaction => {
                    self.called_off_answered(now, at, response);
                }
                State::Leaving(departure) if departure.awaits(transaction) => {
                    self.departure_answered(now, at, transaction, response);
                }
                State::Coming(arrival) if arrival.awaits(transaction) => {
                    self.measured(now, at, response);
                }
                _ => continue,
            }
            return;
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.agent.transactions.handle_timeout(now);
        while let Some(happening) = self.agent.poll(now) {
            self.handle(now, happening);
        }
        for at in (0..self.sessions.len()).rev() {
            if self.sessions[at].deadline().is_some_and(|deadline| deadline <= now) {
                match &self.sessions[at].state {
                    State::Leaving(_) => self.departure_due(now, at),
                    State::Coming(_) => self.arrival_due(now, at),
                    State::Calling(_) => self.call_off(now, at, 408, Failure::NoAnswer),
                    State::CalledOff { .. } => drop(self.sessions.remove(at)),
                    State::Stable => {}
                }
            }
        }
        self.end_silent(now);
        self.part(now);
    }
}

impl Machine for Gateway {
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
                Input::Datagrams { route, bytes, segment, .. }
                    if self.agent.transport_at(route.local).is_some() =>
                {
                    self.agent.handle_datagrams(now, route, bytes, segment);
                }
                Input::Datagrams { route, ecn, bytes, segment } => {
                    self.forward(now, route, ecn, bytes, segment, sink);
                }
                Input::Command(Command::HandOver { terminal, candidates }) => {
                    self.hand_over(now, terminal, candidates);
                }
                Input::Command(Command::Stop) => self.stop(now),
                Input::Command(Command::Heard(address)) => self.allocations.hear(now, address),
                Input::Command(Command::Transport(_) | Command::CannotMove)
                | Input::Unreachable { .. }
                | Input::Links(_)
                | Input::Timeout => {}
            }
        }
        self.handle_timeout(now);
        // Before what tells the terminal that it is expected no more.
        self.release(now, sink);
        self.agent.drain(sink);
        let sessions = self.sessions.iter().filter_map(Session::deadline);
        let gone = self.sessions.iter().filter_map(|session| self.gone_at(session));
        let others = [self.agent.transactions.next_deadline(), self.allocations.next_release()];
        sessions.chain(gone).chain(others.into_iter().flatten()).min()
    }
}

#[cfg(test)]
#[path = "gateway_tests.rs"]
mod tests;
