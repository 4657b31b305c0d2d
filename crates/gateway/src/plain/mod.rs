//! SIP over UDP and TCP, in clear, for agents that are not Whimbrel's: who speaks proves a password for each request.

mod allowance;
mod digest;
mod streams;
mod uses;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::net::UdpSocket;
use whimbrel::Route;
use whimbrel_ufa::sip::{BadRequest, CONTEXT_TRANSFER, Message, RESOURCE_QUERY, Transport};

use self::allowance::{Allowance, source};
use self::digest::{Come, Digests, Proof};
use self::streams::{Limits, Streams};
use crate::plain_settings::DigestAlgorithm;

/// Bytes of a message. A longer one is no message of an agent that goes by RFC 3261 §18.1.1, and each is remembered for half a minute by its answer, which
/// has much of what is in it.
const MESSAGE_MAX: usize = 4096;

/// Bytes of a branch, a Call-ID or a tag, of which each transaction and dialog keeps one.
const WORD_MAX: usize = 256;

/// Sources with wrong passwords that are told of, and for how long one is not told of again.
const TOLD_MAX: usize = 256;
const TOLD_AGAIN: Duration = Duration::from_secs(3600);

/// The passwords of all users; clones are of the same.
#[derive(Clone, Default)]
pub(crate) struct Passwords(Arc<RwLock<BTreeMap<String, String>>>);

impl Passwords {
    /// These are known from now on, and nobody else.
    pub(crate) fn replace(&self, users: impl IntoIterator<Item = (String, String)>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = users.into_iter().collect();
    }

    fn of(&self, user: &str) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(user).cloned()
    }
}

/// What becomes of a datagram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    /// The machine is told of it, by this route.
    Message(Route, Vec<u8>),
    /// Nobody is, or it has been answered.
    Nothing,
    /// Whoever runs the gateway is told this.
    Trouble(String),
}

/// The sockets, and who may speak.
pub(crate) struct PlainSip {
    socket: UdpSocket,
    streams: Streams,
    local: IpAddr,
    door: Door,
    begin: std::time::Instant,
    buffer: Vec<u8>,
}

impl PlainSip {
    /// Listens there.
    ///
    /// # Errors
    /// Another program has the port, or the address is not on this host.
    pub(crate) async fn bind(
        local: SocketAddr,
        algorithms: Vec<DigestAlgorithm>,
        passwords: Passwords,
    ) -> io::Result<Self> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
        let socket = UdpSocket::bind(local).await?;
        let streams = Streams::listen(local, Limits::default()).await?;
        let door = Door::new(local.ip().to_string(), algorithms, secret, passwords);
        let (local, begin) = (local.ip(), std::time::Instant::now());
        Ok(Self { socket, streams, local, door, begin, buffer: vec![0; MESSAGE_MAX + 1] })
    }

    /// Whether it carries what is sent by this route.
    pub(crate) fn carries(route: Route) -> bool {
        Transport::at_local_port(route.local.port()).is_some_and(Transport::is_clear)
    }

    /// The next message, and what becomes of it. `known` says whether a request needs no proof: it has come from the first address, and is answered at the
    /// second.
    pub(crate) async fn next(&mut self, known: impl Fn(&Message, Route, SocketAddr) -> bool) -> Heard {
        let (over, from, bytes) = tokio::select! {
            received = self.socket.recv_from(&mut self.buffer) => match received {
                Ok((length, from)) => (Transport::Udp, from, &self.buffer[..length]),
                // An ICMP message about what was sent before.
                Err(_) => return Heard::Nothing,
            },
            (from, message) = self.streams.next() => {
                let length = message.len().min(self.buffer.len());
                self.buffer[..length].copy_from_slice(&message[..length]);
                (Transport::Tcp, from, &self.buffer[..length])
            }
        };
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        let local = SocketAddr::new(self.local, over.local_port());
        let known = |request: &Message, to| known(request, Route { local, remote: from }, to);
        match self.door.judge(self.begin.elapsed(), (over, from), bytes, known) {
            Judged::Proved(remote, message) => {
                // Who speaks over UDP has no connection, whosever has the same address and port.
                if over == Transport::Tcp
                    && let Ok(message) = Message::parse(&message)
                {
                    self.streams.vouch(from, message.from_user());
                }
                Heard::Message(Route { local, remote }, message)
            }
            Judged::Pass(remote, message) => Heard::Message(Route { local, remote }, message),
            Judged::Answer(remote, message) => {
                self.answer(Route { local, remote }, &message);
                Heard::Nothing
            }
            Judged::Wrong(remote, message, text) => {
                self.answer(Route { local, remote }, &message);
                text.map_or(Heard::Nothing, Heard::Trouble)
            }
            Judged::Drop => Heard::Nothing,
        }
    }

    /// Answers whoever is not known: no connection is made for that.
    fn answer(&self, route: Route, message: &[u8]) {
        match route.local.port() == Transport::Tcp.local_port() {
            true => self.streams.answer(route.remote, message),
            false => self.send(route, message),
        }
    }

    /// What cannot be sent is lost, and comes again by SIP's timers, or does not.
    pub(crate) fn send(&self, route: Route, message: &[u8]) {
        match route.local.port() == Transport::Tcp.local_port() {
            true => self.streams.send(route.remote, message),
            false => drop(self.socket.try_send_to(message, route.remote)),
        }
    }
}

/// How whoever has a connection stands with the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// Nothing is known of him.
    Stranger,
    /// He has proved who he is, or the gateway has called him.
    Known,
}

/// What is done with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Judged {
    /// The machine may have it, and answer there.
    Pass(SocketAddr, Vec<u8>),
    /// The same, and whoever has sent it has proved who he is.
    Proved(SocketAddr, Vec<u8>),
    /// This is sent there, and that is all.
    Answer(SocketAddr, Vec<u8>),
    /// The same, and somebody has a wrong password, which is told once.
    Wrong(SocketAddr, Vec<u8>, Option<String>),
    Drop,
}

/// Who may speak.
struct Door {
    digests: Digests,
    passwords: Passwords,
    allowance: Allowance,
    /// Of whose wrong passwords it was told, and when.
    told: BTreeMap<IpAddr, Duration>,
}

impl Door {
    fn new(realm: String, algorithms: Vec<DigestAlgorithm>, secret: [u8; 32], passwords: Passwords) -> Self {
        let digests = Digests::new(realm, algorithms, secret);
        Self { digests, passwords, allowance: Allowance::new(), told: BTreeMap::new() }
    }

    /// Answers are known by their branch, which nobody guesses, and an ACK cannot be asked for a password (RFC 3261 §22.1): it belongs to what was. `known` says
    /// whether a request that is answered there is a correspondent's within a session. Such a one has no password, and could not answer (RFC 3261 §22.1 leaves
    /// to a user agent what it asks of whom).
    fn judge(
        &mut self,
        now: Duration,
        (over, from): (Transport, SocketAddr),
        bytes: &[u8],
        known: impl Fn(&Message, SocketAddr) -> bool,
    ) -> Judged {
        let Ok(message) = Message::parse(bytes) else { return self.refuse(now, (over, from), bytes) };
        if !is_modest(&message, bytes) {
            return Judged::Drop;
        }
        if !message.is_request() {
            return Judged::Pass(from, message.to_bytes());
        }
        let Ok((request, to)) = message.received_from(from) else { return Judged::Drop };
        let to = answered_at(over, from, to);
        match request.method().to_string().as_str() {
            "ACK" => Judged::Pass(to, request.to_bytes()),
            // Nor can a CANCEL be asked (RFC 3261 §22.1). It counts if it is from where the call is from, and has its branch (§9.2).
            "CANCEL" if self.may_answer(now, from) => Judged::Pass(to, request.to_bytes()),
            "CANCEL" => Judged::Drop,
            // Of gateways, who prove that they are by their keys.
            RESOURCE_QUERY | CONTEXT_TRANSFER if self.may_answer(now, from) => {
                answer(to, self.digests.refuse(&request, 403))
            }
            RESOURCE_QUERY | CONTEXT_TRANSFER => Judged::Drop,
            _ if known(&request, to) => Judged::Proved(to, request.to_bytes()),
            _ => self.ask(now, Come { from, datagram: bytes, request: &request }, to),
        }
    }

    /// What is no message may be near enough to a request to be told so (RFC 3261 §21.4.1), as seldom as all strangers are answered.
    fn refuse(&mut self, now: Duration, (over, from): (Transport, SocketAddr), bytes: &[u8]) -> Judged {
        let bad = BadRequest::read(bytes).filter(|_| bytes.len() <= MESSAGE_MAX);
        let Some(mut bad) = bad.filter(|_| self.may_answer(now, from)) else { return Judged::Drop };
        let to = answered_at(over, from, bad.received_from(from));
        Judged::Answer(to, bad.answer(&self.digests.tag_of(bytes)))
    }

    /// What is done with a request that needs a proof.
    fn ask(&mut self, now: Duration, come: Come<'_>, to: SocketAddr) -> Judged {
        let Come { from, request, .. } = come;
        let (stale, wrong) = match self.digests.prove(now, come, |user| self.passwords.of(user)) {
            // A user is who the request says, too, and not somebody else's session.
            Proof::Of(user) if user == request.from_user() => return Judged::Proved(to, request.to_bytes()),
            Proof::Of(_) => return answer(to, self.digests.refuse(request, 403)),
            Proof::Nothing { stale } => (stale, None),
            Proof::Wrong(user) => (false, Some(user)),
        };
        if !self.may_answer(now, from) {
            return Judged::Drop;
        }
        let challenge = answer(to, self.digests.challenge(now, from.ip(), request, stale));
        match (challenge, wrong) {
            (Judged::Answer(to, bytes), Some(user)) => {
                Judged::Wrong(to, bytes, self.complaint(now, &user, from.ip()))
            }
            (challenge, _) => challenge,
        }
    }

    /// Whether somebody at this address who has proved nothing is answered once more.
    fn may_answer(&mut self, now: Duration, from: SocketAddr) -> bool {
        let secret = self.digests.secret_of(source(from.ip()));
        self.allowance.take(now, &secret)
    }

    /// Once an hour for each source. They are where they say: a wrong password goes with a nonce that was sent there.
    fn complaint(&mut self, now: Duration, user: &str, from: IpAddr) -> Option<String> {
        self.told.retain(|_, told| now.saturating_sub(*told) < TOLD_AGAIN);
        let source = source(from);
        if self.told.len() >= TOLD_MAX || self.told.contains_key(&source) {
            return None;
        }
        self.told.insert(source, now);
        Some(format!("no SIP with {from}: there is no user {user:?} with the password that it has"))
    }
}

/// Whether not too much would have to be remembered of a message.
fn is_modest(message: &Message, bytes: &[u8]) -> bool {
    let words = [Some(message.branch()), Some(message.call_id()), message.from_tag(), message.to_tag()];
    bytes.len() <= MESSAGE_MAX && words.iter().flatten().all(|word| word.len() <= WORD_MAX)
}

/// Where a request is answered: by the connection that it has come by (RFC 3261 §18.2.2), or else where its Via says.
fn answered_at(over: Transport, from: SocketAddr, via: SocketAddr) -> SocketAddr {
    if over == Transport::Tcp { from } else { via }
}

/// `None` cannot happen with a request that was read.
fn answer(to: SocketAddr, message: Option<Message>) -> Judged {
    message.map_or(Judged::Drop, |message| Judged::Answer(to, message.to_bytes()))
}

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;
