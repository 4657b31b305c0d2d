//! SIP in clear over TCP (RFC 3261 §18): connections of others, and those that are made when there is something to say to somebody who has none. However
//! many they are and whatever comes by them, what is kept is bounded in number, bytes and time.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use whimbrel_ufa::sip::Message;

use super::allowance::source;
use super::{MESSAGE_MAX, Standing};
use crate::connections::watch as notice_silence;
use crate::framing::Frames;

/// Messages that wait for whoever reads them all.
const ARRIVALS: usize = 64;

/// How much there may be, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections, of all, of one source and of one user.
    pub(super) all: usize,
    pub(super) of_source: usize,
    pub(super) of_user: usize,
    /// Those of them by which nobody has proved who he is.
    pub(super) strangers: usize,
    pub(super) strangers_of_source: usize,
    /// Messages that wait for one of them to take them.
    pub(super) queue: usize,
    /// Bytes of all messages that wait, and of all that wait for strangers: who does not read what he has asked for takes room from nobody else.
    pub(super) bytes: usize,
    pub(super) strangers_bytes: usize,
    /// For somebody to prove who he is, and for a message to be whole that has begun.
    pub(super) patience: Duration,
    /// For those who are known to say something.
    pub(super) idle: Duration,
    /// For a connection to come up, and for the other end to take what is sent.
    pub(super) setup: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            all: 1024,
            of_source: 64,
            of_user: 256,
            strangers: 256,
            strangers_of_source: 16,
            queue: 64,
            bytes: 8 << 20,
            strangers_bytes: 1 << 20,
            patience: Duration::from_secs(10),
            idle: Duration::from_secs(600),
            setup: Duration::from_secs(5),
        }
    }
}

/// All connections.
pub(super) struct Streams {
    shared: Arc<Shared>,
    arrivals: mpsc::Receiver<(SocketAddr, Vec<u8>)>,
    listening: JoinHandle<()>,
}

struct Shared {
    local: IpAddr,
    limits: Limits,
    /// By the address of the other end.
    open: Mutex<BTreeMap<SocketAddr, Open>>,
    next: AtomicU64,
    arrivals: mpsc::Sender<(SocketAddr, Vec<u8>)>,
    bytes: Arc<Semaphore>,
    strangers_bytes: Arc<Semaphore>,
}

/// A connection, or one that is being made, which ends when this is dropped.
struct Open {
    number: u64,
    messages: mpsc::Sender<Waiting>,
    standing: watch::Sender<Standing>,
    /// Who has proved who he is.
    user: Option<String>,
}

/// A message that waits, and its share of the bytes.
type Waiting = (Vec<u8>, OwnedSemaphorePermit);

/// What a connection has to do with the others.
struct Line {
    remote: SocketAddr,
    queue: mpsc::Receiver<Waiting>,
    standing: watch::Receiver<Standing>,
}

impl Streams {
    /// Takes connections there.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub(super) async fn listen(local: SocketAddr, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind(local).await?;
        let (sender, arrivals) = mpsc::channel(ARRIVALS);
        let shared = Arc::new(Shared {
            local: local.ip(),
            limits,
            open: Mutex::default(),
            next: AtomicU64::new(0),
            arrivals: sender,
            bytes: Arc::new(Semaphore::new(limits.bytes)),
            strangers_bytes: Arc::new(Semaphore::new(limits.strangers_bytes)),
        });
        let listening = tokio::spawn(accept_all(listener, Arc::clone(&shared)));
        Ok(Self { shared, arrivals, listening })
    }

    /// The next whole message, and from where. Nothing is lost if somebody ceases to wait for it.
    pub(super) async fn next(&mut self) -> (SocketAddr, Vec<u8>) {
        match self.arrivals.recv().await {
            Some(arrival) => arrival,
            // It cannot end before this does.
            None => std::future::pending().await,
        }
    }

    /// Whoever has this connection has proved to be this user. One who has too many loses it.
    pub(super) fn vouch(&self, remote: SocketAddr, user: &str) {
        let mut open = self.shared.open();
        let is_theirs =
            |(at, open): &(&SocketAddr, &Open)| **at != remote && open.user.as_deref() == Some(user);
        if open.iter().filter(is_theirs).count() >= self.shared.limits.of_user {
            open.remove(&remote);
        } else if let Some(open) = open.get_mut(&remote) {
            open.user = Some(user.to_owned());
            open.standing.send_replace(Standing::Known);
        }
    }

    /// Answers by the connection that a request has come by, if it is still there.
    pub(super) fn answer(&self, remote: SocketAddr, message: &[u8]) {
        let open = self.shared.open();
        if let (Some(known), Some(waiting)) =
            (open.get(&remote), waiting(message, &self.shared.strangers_bytes))
        {
            let _ = known.messages.try_send(waiting);
        }
    }

    /// Sends a message by the connection with this other end; where there is none any more, to where it leads by itself (RFC 3261 §18.2.2), by a new one if
    /// need be. What cannot be sent is lost.
    ///
    /// A request does not go by a connection of which nobody knows whose it is: it was for somebody who had this address before. An answer may be for a
    /// stranger, and does not make one known.
    pub(super) fn send(&self, remote: SocketAddr, message: &[u8]) {
        let Some(waiting) = waiting(message, &self.shared.bytes) else { return };
        let parsed = Message::parse(message).ok();
        let asks = parsed.as_ref().is_some_and(Message::is_request);
        let mut open = self.shared.open();
        let mut at = remote;
        if !open.get(&at).is_some_and(Open::is_there) {
            at = parsed.map_or(remote, |message| message.leads_to(remote));
        }
        if let Some(known) = open.get(&at).filter(|known| known.is_there()) {
            if !asks || known.standing() == Standing::Known {
                let _ = known.messages.try_send(waiting);
            }
            return;
        }
        let standing = if asks { Standing::Known } else { Standing::Stranger };
        if !self.shared.has_room(&open, at.ip(), standing) {
            return;
        }
        let (number, line) = self.shared.add(&mut open, at, standing);
        let _ = open[&at].messages.try_send(waiting);
        drop(open);
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            if let Ok(Ok(stream)) = timeout(shared.limits.setup, dial(shared.local, at)).await {
                let _ = converse(stream, line, &shared).await;
            }
            shared.forget(at, number);
        });
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.shared.open().len()
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.listening.abort();
        // Their queues end, and so do they.
        self.shared.open().clear();
    }
}

impl Open {
    fn is_there(&self) -> bool {
        !self.messages.is_closed()
    }

    fn standing(&self) -> Standing {
        *self.standing.borrow()
    }
}

/// How many connections there are with this source, of those alone who stand so, if it is said how.
fn count(open: &BTreeMap<SocketAddr, Open>, with: IpAddr, standing: Option<Standing>) -> usize {
    let alike = |open: &Open| standing.is_none_or(|standing| open.standing() == standing);
    open.iter().filter(|(remote, open)| source(remote.ip()) == source(with) && alike(open)).count()
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(
        &self,
        open: &mut BTreeMap<SocketAddr, Open>,
        remote: SocketAddr,
        standing: Standing,
    ) -> (u64, Line) {
        let (messages, queue) = mpsc::channel(self.limits.queue);
        let (sender, standing) = watch::channel(standing);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        open.insert(remote, Open { number, messages, standing: sender, user: None });
        (number, Line { remote, queue, standing })
    }

    /// Whether there may be one more with this source that stands so.
    fn has_room(&self, open: &BTreeMap<SocketAddr, Open>, with: IpAddr, standing: Standing) -> bool {
        let Limits { all, of_source, strangers, strangers_of_source, .. } = self.limits;
        let is_stranger = |open: &&Open| open.standing() == Standing::Stranger;
        let room = open.len() < all && count(open, with, None) < of_source;
        let among_strangers = || {
            open.values().filter(is_stranger).count() < strangers
                && count(open, with, Some(Standing::Stranger)) < strangers_of_source
        };
        room && (standing == Standing::Known || among_strangers())
    }

    /// A connection has come from there. `None` if there are too many already, or one that is known: that one was made to there, and nobody takes its place.
    fn admit(&self, remote: SocketAddr) -> Option<(u64, Line)> {
        let mut open = self.open();
        let is_known = |open: &Open| open.is_there() && open.standing() == Standing::Known;
        let admits =
            self.has_room(&open, remote.ip(), Standing::Stranger) && !open.get(&remote).is_some_and(is_known);
        admits.then(|| self.add(&mut open, remote, Standing::Stranger))
    }

    /// It has ended; another one may have taken its place.
    fn forget(&self, remote: SocketAddr, number: u64) {
        let mut open = self.open();
        if open.get(&remote).is_some_and(|known| known.number == number) {
            open.remove(&remote);
        }
    }
}

/// A message that is to wait; `None` if too much waits already.
fn waiting(message: &[u8], bytes: &Arc<Semaphore>) -> Option<Waiting> {
    let length = u32::try_from(message.len()).ok()?;
    let share = Arc::clone(bytes).try_acquire_many_owned(length).ok()?;
    Some((message.to_vec(), share))
}

async fn accept_all(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // Out of file descriptors, for instance: that passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        let Some((number, line)) = shared.admit(from) else { continue };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _ = converse(stream, line, &shared).await;
            shared.forget(from, number);
        });
    }
}

async fn dial(local: IpAddr, remote: SocketAddr) -> io::Result<TcpStream> {
    let socket = if remote.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.bind(SocketAddr::new(local, 0))?;
    socket.connect(remote).await
}

/// Carries messages both ways until one end has had enough. Who does not read what is sent is not heard either.
async fn converse(mut stream: TcpStream, line: Line, shared: &Shared) -> io::Result<()> {
    let Line { remote, mut queue, mut standing } = line;
    notice_silence(&stream)?;
    let limits = shared.limits;
    let (mut reader, mut writer) = stream.split();
    let (mut frames, mut buffer) = (Frames::of(MESSAGE_MAX), vec![0; 2048]);
    let come = Instant::now();
    // When the last message came, and when one has begun that is not whole.
    let (mut heard, mut begun) = (come, None::<Instant>);
    loop {
        let until = match *standing.borrow_and_update() {
            Standing::Stranger => come + limits.patience,
            Standing::Known => heard + limits.idle,
        };
        let until = begun.map_or(until, |begun| until.min(begun + limits.patience));
        let send = tokio::select! {
            read = reader.read(&mut buffer) => {
                let read = read?;
                if read == 0 {
                    return Ok(());
                }
                frames.push(&buffer[..read]);
                while let Some(message) = frames.next().map_err(io::Error::other)? {
                    (heard, begun) = (Instant::now(), None);
                    shared.arrivals.send((remote, message)).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
                }
                begun = frames.is_amid().then(|| begun.unwrap_or_else(Instant::now));
                if !frames.take_ping() {
                    continue;
                }
                heard = Instant::now();
                // RFC 5626 §3.5.1 and §4.4.1.
                b"\r\n".to_vec()
            }
            waiting = queue.recv() => match waiting {
                Some((message, _)) => message,
                None => return Ok(()),
            },
            _ = standing.changed() => continue,
            () = sleep_until(until) => return Err(io::ErrorKind::TimedOut.into()),
        };
        timeout(limits.setup, writer.write_all(&send)).await??;
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
