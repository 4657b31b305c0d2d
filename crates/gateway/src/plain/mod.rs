//! SIP over UDP, in clear, for agents that are not Whimbrel's: who speaks proves a password for each request.

mod digest;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::net::UdpSocket;
use whimbrel::Route;
use whimbrel_ufa::sip::{CONTEXT_TRANSFER, Message, RESOURCE_QUERY};

use self::digest::{Digests, Proof};
use crate::settings::DigestAlgorithm;

/// Bytes of a datagram. A longer one is no message.
const DATAGRAM_MAX: usize = 16_384;

/// Addresses with wrong passwords that are told of.
const TOLD_MAX: usize = 256;

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

/// The socket, and who may speak.
pub(crate) struct PlainSip {
    socket: UdpSocket,
    local: SocketAddr,
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
        let door = Door::new(local.ip().to_string(), algorithms, secret, passwords);
        Ok(Self { socket, local, door, begin: std::time::Instant::now(), buffer: vec![0; DATAGRAM_MAX] })
    }

    /// The next datagram, and what becomes of it.
    pub(crate) async fn next(&mut self) -> Heard {
        let Ok((length, from)) = self.socket.recv_from(&mut self.buffer).await else {
            // An ICMP message about what was sent before.
            return Heard::Nothing;
        };
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        match self.door.judge(self.begin.elapsed(), from, &self.buffer[..length]) {
            Judged::Pass(remote, message) => Heard::Message(Route { local: self.local, remote }, message),
            Judged::Answer(remote, message) => {
                self.send(remote, &message);
                Heard::Nothing
            }
            Judged::Wrong(remote, message, text) => {
                self.send(remote, &message);
                text.map_or(Heard::Nothing, Heard::Trouble)
            }
            Judged::Drop => Heard::Nothing,
        }
    }

    /// What cannot be sent is lost, and comes again by SIP's timers.
    pub(crate) fn send(&self, to: SocketAddr, message: &[u8]) {
        let _ = self.socket.try_send_to(message, to);
    }
}

/// What is done with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Judged {
    /// The machine may have it, and answer there.
    Pass(SocketAddr, Vec<u8>),
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
    told: BTreeSet<IpAddr>,
}

impl Door {
    fn new(realm: String, algorithms: Vec<DigestAlgorithm>, secret: [u8; 32], passwords: Passwords) -> Self {
        Self { digests: Digests::new(realm, algorithms, secret), passwords, told: BTreeSet::new() }
    }

    /// Answers are known by their branch, which nobody guesses, and an ACK cannot be asked for a password (RFC 3261 §22.1): it belongs to what was.
    fn judge(&mut self, now: std::time::Duration, from: SocketAddr, bytes: &[u8]) -> Judged {
        let Ok(message) = Message::parse(bytes) else { return Judged::Drop };
        let method = message.method().to_string();
        if !message.is_request() {
            return Judged::Pass(from, message.to_bytes());
        }
        let Ok((request, to)) = message.received_from(from) else { return Judged::Drop };
        let refused = match method.as_str() {
            "ACK" => return Judged::Pass(to, request.to_bytes()),
            // Whoever is answered at once has nothing to cancel (RFC 3261 §9.2), and cannot be asked, either.
            "CANCEL" => Some(481),
            // Of gateways, who prove that they are by their keys.
            RESOURCE_QUERY | CONTEXT_TRANSFER => Some(403),
            _ => None,
        };
        let answer = |message: Option<Message>| message.map(|message| message.to_bytes());
        if let Some(status) = refused {
            let refusal = answer(self.digests.refuse(&request, status));
            return refusal.map_or(Judged::Drop, |bytes| Judged::Answer(to, bytes));
        }
        match self.digests.prove(now, &request, |user| self.passwords.of(user)) {
            // A user is who the request says, too, and not somebody else's session.
            Proof::Of(user) if user == request.from_user() => Judged::Pass(to, request.to_bytes()),
            Proof::Of(_) => {
                let refusal = answer(self.digests.refuse(&request, 403));
                refusal.map_or(Judged::Drop, |bytes| Judged::Answer(to, bytes))
            }
            Proof::Nothing { stale } => {
                let challenge = answer(self.digests.challenge(now, &request, stale));
                challenge.map_or(Judged::Drop, |bytes| Judged::Answer(to, bytes))
            }
            Proof::Wrong(user) => {
                let challenge = answer(self.digests.challenge(now, &request, false));
                let text = self.complaint(&user, from.ip());
                challenge.map_or(Judged::Drop, |bytes| Judged::Wrong(to, bytes, text))
            }
        }
    }

    /// Once for each address.
    fn complaint(&mut self, user: &str, from: IpAddr) -> Option<String> {
        let text = format!("no SIP with {from}: there is no user {user:?} with the password that it has");
        (self.told.len() < TOLD_MAX && self.told.insert(from)).then_some(text)
    }
}

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;
