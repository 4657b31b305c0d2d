//! SIP over TLS over TCP (RFC 3261 §18 and §26.3): one connection per peer, made when there is something to say, and made again when it breaks.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use whimbrel::Route;
use whimbrel::secure::{Identity, Keyring, PublicKey, StreamTls, Trust};
use whimbrel_ufa::sip::Transport;

pub(crate) use crate::conversation::{Arrival, watch};
use crate::conversation::{Saying, converse};

/// What SIP is called in TLS (IANA's registry of ALPN protocol identifiers).
const ALPN: &[u8] = b"sip/2";
/// Messages that wait for one peer; more are lost, and come again by SIP's timers.
const QUEUE: usize = 64;
/// Messages of all peers that wait for the machine.
const ARRIVALS: usize = 256;
/// Connections at most, of all peers and of one.
const OPEN_MAX: usize = 4096;
const OPEN_PER_PEER: usize = 16;
/// Handshakes at a time, of all and from one network: who connects and says nothing must not keep others out.
const HANDSHAKES: usize = 256;
const HANDSHAKES_PER_NETWORK: usize = 16;
/// Hosts with keys that do not fit that are told of.
const TOLD_MAX: usize = 256;
/// For a connection to come up.
const SETUP: Duration = Duration::from_secs(5);

/// What is known of who is where.
pub(crate) trait Peers: Send + Sync {
    /// Where a peer that has come can be called, seen from where its connection came from.
    fn place(&self, from: SocketAddr, _key: &PublicKey) -> SocketAddr {
        from
    }

    /// Keys do not fit: this host does not know the other one, or is not known there.
    fn complain(&self, _text: String) {}

    /// Whether whoever answers at this address may have this key.
    fn may_answer(&self, _at: SocketAddr, _key: &PublicKey) -> bool {
        true
    }
}

/// All connections of one host.
pub(crate) struct Connections {
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    connector: TlsConnector,
    /// By which it is decided whose connection stays, where both ends have begun one.
    own: PublicKey,
    /// Who may speak. It may change while a handshake is under way.
    trusted: Keyring,
    open: Mutex<HashMap<Route, Open>>,
    next: AtomicU64,
    arrivals: mpsc::Sender<Arrival>,
    peers: Box<dyn Peers>,
    /// Hosts of whom it was told that they are not known, or do not know this one.
    told: Mutex<BTreeSet<IpAddr>>,
    /// Handshakes of those that have come, by where they come from.
    greeting: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection, or one that is being made, which ends when this is dropped.
struct Open {
    number: u64,
    messages: mpsc::Sender<Saying>,
    key: Option<PublicKey>,
    /// When this end has begun it; `None` is that the other one has.
    dialled: Option<Instant>,
}

impl Open {
    /// Whether the other end can have begun one at the same time: it had not heard of this one by then, and its own comes up within [`SETUP`] after that.
    fn may_cross(&self) -> bool {
        self.dialled.is_some_and(|begun| begun.elapsed() < SETUP * 2)
    }
}

impl Connections {
    /// For a host with this identity, towards hosts whose keys are in `trusted`. What comes is told by the receiver.
    ///
    /// # Errors
    /// None that a valid identity could cause.
    pub(crate) fn new(
        identity: &Identity,
        trusted: &Keyring,
        peers: Box<dyn Peers>,
    ) -> io::Result<(Self, mpsc::Receiver<Arrival>)> {
        let client = StreamTls::new(identity, ALPN).client(Trust::Keyring(trusted.clone()));
        let connector = TlsConnector::from(client.map_err(io::Error::other)?);
        let (arrivals, receiver) = mpsc::channel(ARRIVALS);
        let shared = Arc::new(Shared {
            connector,
            own: identity.public_key(),
            trusted: trusted.clone(),
            open: Mutex::default(),
            next: AtomicU64::new(0),
            arrivals,
            peers,
            told: Mutex::default(),
            greeting: Mutex::default(),
        });
        Ok((Self { shared, listening: None }, receiver))
    }

    /// Takes connections of hosts whose keys are in `trusted`, on this address.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub(crate) async fn listen(
        &mut self,
        address: SocketAddr,
        identity: &Identity,
        trusted: &Keyring,
    ) -> io::Result<SocketAddr> {
        let server = StreamTls::new(identity, ALPN).server(Trust::Keyring(trusted.clone()));
        let acceptor = TlsAcceptor::from(server.map_err(io::Error::other)?);
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        let shared = Arc::clone(&self.shared);
        self.listening = Some(tokio::spawn(accept_all(listener, address, acceptor, shared)));
        Ok(bound)
    }

    /// Who is trusted, or where somebody is, has changed: ends the connections of all who may not have them any more. Those that this host has begun end,
    /// too: they are made anew when there is something to say, and then it is looked who answers. Keys that do not fit are told of again.
    pub(crate) fn review(&self) {
        let Shared { trusted, peers, .. } = &*self.shared;
        let may_stay = |at: SocketAddr, key: &PublicKey| trusted.contains(key) && peers.may_answer(at, key);
        self.shared.open().retain(|route, open| open.key.is_some_and(|key| may_stay(route.remote, &key)));
        self.shared.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Sends a message from an address of this host, or from any if it is unspecified, over a new connection if there is none. What cannot be sent is
    /// lost.
    pub(crate) fn send(&self, route: Route, message: Vec<u8>) {
        let route = of_host(route.local, route.remote);
        let mut open = self.shared.open();
        if let Some(known) = open.get(&route).filter(|known| !known.messages.is_closed()) {
            let _ = known.messages.try_send(Saying::Message(message));
            return;
        }
        if open.len() >= OPEN_MAX {
            return;
        }
        let (messages, queue) = mpsc::channel(QUEUE);
        let _ = messages.try_send(Saying::Message(message));
        let number = self.shared.number();
        open.insert(route, Open { number, messages, key: None, dialled: Some(Instant::now()) });
        drop(open);
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            // Of silence nobody is told: SIP's own timers notice.
            let ended = match timeout(SETUP, dial(&shared.connector, route)).await {
                Ok(Ok((stream, key)))
                    if shared.trusted.contains(&key) && shared.peers.may_answer(route.remote, &key) =>
                {
                    converse(stream, route, key, queue, &shared.arrivals).await
                }
                Ok(Ok(_)) => Err(io::ErrorKind::InvalidData.into()),
                Ok(Err(error)) => Err(error),
                Err(_) => Ok(()),
            };
            shared.note(route.remote.ip(), &ended);
            shared.forget(number);
        });
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
        // Their queues end, and so do they.
        self.shared.open().clear();
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, HashMap<Route, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that has come from there; `from` is the port that it has. The one before it ends. `None` if this peer has too many, or is not trusted any
    /// more.
    ///
    /// Where both ends have begun one at the same time, that of the lower key stays, as of two connections between BGP speakers that of the one with the
    /// higher identifier does (RFC 4271 §6.8). What was to be said by the other one still is, and it is heard until it ends.
    fn admit(&self, route: Route, from: SocketAddr, key: PublicKey) -> Option<(u64, mpsc::Receiver<Saying>)> {
        let mut open = self.open();
        // Behind the lock: what `review` does not see comes after it, and after the change.
        if !self.trusted.contains(&key) {
            return None;
        }
        let of_peer = open.values().filter(|open| open.key == Some(key)).count();
        if of_peer >= OPEN_PER_PEER || open.len() >= OPEN_MAX {
            return None;
        }
        let (messages, queue) = mpsc::channel(QUEUE);
        let number = self.number();
        let come = Open { number, messages, key: Some(key), dialled: None };
        match open.get(&route).is_some_and(Open::may_cross) {
            true if self.own < key => drop(open.insert(Route { remote: from, ..route }, come)),
            true => {
                if let Some(ours) = open.insert(route, come) {
                    let _ = ours.messages.try_send(Saying::NoMore);
                    open.insert(aside(route), Open { key: Some(key), ..ours });
                }
            }
            false => drop(open.insert(route, come)),
        }
        Some((number, queue))
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Tells of keys that do not fit, once for each host.
    fn note(&self, other: IpAddr, ended: &io::Result<()>) {
        let keys = ended.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if keys && told.len() < TOLD_MAX && told.insert(other) {
            self.peers.complain(format!(
                "no SIP with {other}: it has another key than is known here, or does not know this host's (`whimbrel key`)"
            ));
        }
    }

    /// It has ended; another one may have taken its place.
    fn forget(&self, number: u64) {
        self.open().retain(|_, open| open.number != number);
    }
}

/// Where a connection of ours is kept by which nothing more is said.
const fn aside(route: Route) -> Route {
    Route { local: SocketAddr::new(route.local.ip(), 0), remote: route.remote }
}

/// What tells connections apart: a host that has moved must not speak by one of its old address. Ports of ours come and go, and SIP's stands for all.
fn of_host(local: SocketAddr, remote: SocketAddr) -> Route {
    Route { local: SocketAddr::new(local.ip(), Transport::Tls.port()), remote }
}

async fn dial(
    connector: &TlsConnector,
    route: Route,
) -> io::Result<(tokio_rustls::client::TlsStream<TcpStream>, PublicKey)> {
    let socket = if route.remote.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if !route.local.ip().is_unspecified() {
        socket.bind(SocketAddr::new(route.local.ip(), 0))?;
    }
    let stream = socket.connect(route.remote).await?;
    watch(&stream)?;
    let stream = connector.connect(StreamTls::server_name(), stream).await?;
    let key = StreamTls::peer(stream.get_ref().1).ok_or(io::ErrorKind::InvalidData)?;
    Ok((stream, key))
}

async fn accept_all(listener: TcpListener, local: SocketAddr, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
    loop {
        let Ok(permit) = Arc::clone(&handshakes).acquire_owned().await else { return };
        let Ok((stream, from)) = listener.accept().await else {
            // Out of file descriptors, for instance: that passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // IPv4 on a socket of IPv6 (RFC 4291 §2.5.5.2).
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        let Some(greeting) = Greeting::begin(&shared, network(from.ip())) else { continue };
        let (acceptor, shared) = (acceptor.clone(), Arc::clone(&shared));
        tokio::spawn(async move {
            let greeted = async {
                watch(&stream)?;
                acceptor.accept(stream).await
            };
            let stream = match timeout(SETUP, greeted).await {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => return shared.note(from.ip(), &Err(error)),
                Err(_) => return,
            };
            drop((permit, greeting));
            let Some(key) = StreamTls::peer(stream.get_ref().1) else { return };
            let route = of_host(local, shared.peers.place(from, &key));
            if let Some((number, queue)) = shared.admit(route, from, key) {
                let _ = converse(stream, route, key, queue, &shared.arrivals).await;
                shared.forget(number);
            }
        });
    }
}

/// What one host may have many addresses of: a /24 of IPv4, a /64 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V4((address.to_bits() & !0xff).into()),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}

/// A handshake that is under way.
struct Greeting(Arc<Shared>, IpAddr);

impl Greeting {
    /// `None` if there are too many from there.
    fn begin(shared: &Arc<Shared>, from: IpAddr) -> Option<Self> {
        let mut greeting = shared.greeting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = greeting.entry(from).or_default();
        if *count >= HANDSHAKES_PER_NETWORK {
            return None;
        }
        *count += 1;
        Some(Self(Arc::clone(shared), from))
    }
}

impl Drop for Greeting {
    fn drop(&mut self) {
        let mut greeting = self.0.greeting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = greeting.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                greeting.remove(&self.1);
            }
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
