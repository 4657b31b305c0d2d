//! Transactions (RFC 3261 section 17, with the corrections of RFC 6026): each request is sent until it is answered, each answer until it is
//! known to have come, and what comes twice is told once.

mod client;
mod invite_client;
mod invite_server;
mod other_client;
mod other_server;
mod server;
mod share;
mod timers;

use core::net::SocketAddr;
use std::collections::VecDeque;

use sip_types::Method;
use whimbrel_machine::{Instant, Route};

use self::client::{Client, ClientVerdict};
use self::server::{Server, ServerVerdict};
use self::share::Share;
pub use self::timers::{RINGING, RINGING_MAX, Repeats, Timers};
use super::{BadRequest, Message, Token, response};

/// Transactions of each kind at most, of all peers and with one address; further requests are not heard, and come again. Over UDP each is remembered for
/// half a minute (timers J and L): an address can begin sixteen calls a second.
const TRANSACTIONS_MAX: usize = 8192;
const PER_PEER_MAX: usize = 1024;

/// Names a transaction that this end has begun.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClientId(u64);

/// Names a transaction that another end has begun.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ServerId(u64);

/// What the user of transactions is told.
#[derive(Debug)]
pub enum Happening {
    /// A request has come, once.
    Request {
        /// What it is answered by.
        transaction: ServerId,
        /// The request.
        message: Message,
        /// From where it came, and to where.
        route: Route,
    },
    /// An INVITE has been answered provisionally, by more than 100: it rings, for instance.
    Progress {
        /// What it answers.
        transaction: ClientId,
        /// The response.
        message: Message,
    },
    /// A final response has come. A 2xx to INVITE is to be acknowledged by [`Transactions::acknowledge`].
    Response {
        /// What it answers.
        transaction: ClientId,
        /// The response.
        message: Message,
    },
    /// No final response has come in time (timers B and F).
    TimedOut(ClientId),
    /// The ACK for a 2xx has come.
    Acknowledged(ServerId),
    /// It has not, in time (RFC 3261 §13.3.1.4).
    NeverAcknowledged(ServerId),
}

/// How a timer's time passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Elapsed {
    /// Not yet.
    Nothing,
    /// What was sent last is sent again.
    Resend,
    /// Nobody has answered. The transaction is over.
    TimedOut,
    /// The transaction is over.
    Ended,
}

/// All transactions of one end.
#[derive(Debug)]
pub struct Transactions {
    timers: Timers,
    share: Share,
    next: u64,
    clients: Vec<(ClientId, Client)>,
    servers: Vec<(ServerId, Server)>,
    output: VecDeque<(Route, Vec<u8>)>,
    happenings: VecDeque<Happening>,
}

impl Transactions {
    /// None yet.
    pub fn new(timers: Timers) -> Self {
        Self {
            timers,
            share: Share::default(),
            next: 0,
            clients: Vec::new(),
            servers: Vec::new(),
            output: VecDeque::new(),
            happenings: VecDeque::new(),
        }
    }

    /// What is said by this address of ours has other timers, and, with what is said by other such ones, no more than its share of the transactions.
    pub fn share(&mut self, local: SocketAddr, timers: Timers) {
        self.share.add(local, timers);
    }

    // ---- inputs

    /// A datagram has come.
    pub fn handle_datagram(&mut self, now: Instant, route: Route, datagram: &[u8]) {
        let Ok(message) = Message::parse(datagram) else { return self.refuse_what_is_bad(route, datagram) };
        if message.is_request() {
            self.handle_request(now, route, message);
        } else {
            self.handle_response(now, message);
        }
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Self { clients, servers, output, happenings, .. } = self;
        clients.retain_mut(|(id, client)| match client.on_time(now, output) {
            Elapsed::Nothing | Elapsed::Resend => true,
            Elapsed::TimedOut => {
                happenings.push_back(Happening::TimedOut(*id));
                false
            }
            Elapsed::Ended => false,
        });
        servers.retain_mut(|(id, server)| match server.on_time(now, output) {
            Elapsed::Nothing | Elapsed::Resend => true,
            Elapsed::TimedOut => {
                happenings.push_back(Happening::NeverAcknowledged(*id));
                false
            }
            Elapsed::Ended => false,
        });
    }

    fn handle_request(&mut self, now: Instant, route: Route, message: Message) {
        let known = self.servers.iter_mut().find(|(_, server)| server.is_of(&message, route));
        if let Some((id, server)) = known {
            if server.on_request(now, &message, route, &mut self.output) == ServerVerdict::Acknowledged {
                self.happenings.push_back(Happening::Acknowledged(*id));
            }
            return;
        }
        // An ACK that belongs to nothing is answered by nobody (RFC 3261 §17.2.3).
        if message.method() == &Method::ACK {
            return;
        }
        let cancelled = self.servers.iter().find(|(_, server)| server.is_cancelled_by(&message, route));
        let tag = cancelled.and_then(|(_, server)| server.tag());
        if message.method() == &Method::CANCEL && cancelled.is_none() {
            return self.refuse_cancel(route, &message);
        }
        if !self.has_room(&message, route) {
            return;
        }
        let id = ServerId(self.next);
        self.next += 1;
        let timers = self.timers_at(route.local);
        self.servers.push((id, Server::new(now, timers, &message, route).tagged(tag)));
        self.happenings.push_back(Happening::Request { transaction: id, message, route });
    }

    /// It is no message, and may be near enough to one to be told so (RFC 3261 §18.3, §21.4.1). Nothing is kept of it.
    fn refuse_what_is_bad(&mut self, route: Route, datagram: &[u8]) {
        let refusal = BadRequest::read(datagram).map(|bad| bad.answer(&Token::of(&[0; 32])));
        self.output.extend(refusal.map(|refusal| (route, refusal)));
    }

    /// What would be cancelled is not known (RFC 3261 §9.2). Nobody is asked for a password here, and so nothing is kept of it.
    fn refuse_cancel(&mut self, route: Route, cancel: &Message) {
        let refusal = response(cancel, 481, &Token::of(&[0; 32]));
        self.output.extend(refusal.ok().map(|refusal| (route, refusal.to_bytes())));
    }

    /// Whether there is room for one more request.
    fn has_room(&self, request: &Message, route: Route) -> bool {
        let of_peer =
            |server: &Server| (server.heard_at(), server.peer()) == (route.local, route.remote.ip());
        let of_peer = self.servers.iter().filter(|(_, server)| of_peer(server)).count();
        if self.servers.len() >= TRANSACTIONS_MAX || of_peer >= PER_PEER_MAX {
            return false;
        }
        if !self.share.is_at(route.local) {
            return true;
        }
        let alike = || self.servers.iter().filter(|(_, server)| self.share.is_at(server.heard_at()));
        let of_user = alike().filter(|(_, server)| server.user() == request.from_user()).count();
        alike().count() < Share::MAX && of_user < Share::PER_USER_MAX
    }

    fn timers_at(&self, local: SocketAddr) -> Timers {
        self.share.timers(local).unwrap_or(self.timers)
    }

    fn handle_response(&mut self, now: Instant, message: Message) {
        let Some((id, client)) = self.clients.iter_mut().find(|(_, client)| client.is_of(&message)) else {
            return;
        };
        let transaction = *id;
        let verdict = client.on_response(now, &message, &mut self.output);
        let cancel = client.take_cancel();
        match verdict {
            ClientVerdict::Told => self.happenings.push_back(Happening::Response { transaction, message }),
            ClientVerdict::Progress => {
                self.happenings.push_back(Happening::Progress { transaction, message });
            }
            ClientVerdict::Absorbed | ClientVerdict::Acknowledge => {}
        }
        if let Some((route, cancel)) = cancel {
            self.request(now, route, &cancel);
        }
    }

    // ---- commands

    /// Sends a request. `None` if there are too many already.
    pub fn request(&mut self, now: Instant, route: Route, message: &Message) -> Option<ClientId> {
        let of_share = || self.clients.iter().filter(|(_, client)| self.share.is_at(client.sent_from()));
        let full = self.share.is_at(route.local) && of_share().count() >= Share::MAX;
        if self.clients.len() >= TRANSACTIONS_MAX || full {
            return None;
        }
        let id = ClientId(self.next);
        self.next += 1;
        let client = Client::new(now, self.timers_at(route.local), route, message);
        self.output.push_back((route, client.request().to_vec()));
        self.clients.push((id, client));
        Some(id)
    }

    /// Has the other end stop what an INVITE has begun: as soon as it is known to have come (RFC 3261 §9.1).
    pub fn cancel(&mut self, now: Instant, transaction: ClientId) {
        let Some((_, client)) = self.clients.iter_mut().find(|(id, _)| *id == transaction) else { return };
        client.cancel();
        if let Some((route, cancel)) = client.take_cancel() {
            self.request(now, route, &cancel);
        }
    }

    /// Acknowledges the 2xx to an INVITE, now and as often as it comes again.
    pub fn acknowledge(&mut self, transaction: ClientId, route: Route, ack: &Message) {
        let bytes = ack.to_bytes();
        self.output.push_back((route, bytes.clone()));
        if let Some((_, client)) = self.clients.iter_mut().find(|(id, _)| *id == transaction) {
            client.keep_ack(route, bytes);
        }
    }

    /// Answers a request.
    pub fn respond(&mut self, now: Instant, transaction: ServerId, response: &Message) {
        if let Some((_, server)) = self.servers.iter_mut().find(|(id, _)| *id == transaction) {
            server.respond(now, response, &mut self.output);
        }
    }

    /// The address of ours to which a request has come.
    pub fn heard_at(&self, transaction: ServerId) -> Option<SocketAddr> {
        let known = self.servers.iter().find(|(id, _)| *id == transaction);
        known.map(|(_, server)| server.heard_at())
    }

    /// The tag in To that answers to this request have had so far. That of a CANCEL has the one of what it cancels.
    pub fn tag(&self, transaction: ServerId) -> Option<Token> {
        self.servers.iter().find(|(id, _)| *id == transaction)?.1.tag()
    }

    // ---- outputs

    /// The next datagram.
    pub fn poll_transmit(&mut self) -> Option<(Route, Vec<u8>)> {
        self.output.pop_front()
    }

    /// What has happened next.
    pub fn poll(&mut self) -> Option<Happening> {
        self.happenings.pop_front()
    }

    /// When [`Self::handle_timeout`] must be called.
    pub fn next_deadline(&self) -> Option<Instant> {
        let clients = self.clients.iter().filter_map(|(_, client)| client.deadline());
        clients.chain(self.servers.iter().filter_map(|(_, server)| server.deadline())).min()
    }

    /// Whether a request is one that comes again, and is answered where it was.
    pub fn is_again(&self, request: &Message, route: Route) -> bool {
        self.servers
            .iter()
            .any(|(_, server)| server.is_of(request, route) && server.answers_to() == route.remote)
    }

    /// Whether a request of this end is not answered yet.
    pub fn awaits_answers(&self) -> bool {
        self.clients.iter().any(|(_, client)| client.is_open())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.clients.len() + self.servers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
#[path = "transactions_tests.rs"]
mod tests;

#[cfg(test)]
mod hostile_tests;
