//! What an endpoint's handles and its driver share: the queue of wishes and the table of listeners.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use core::net::SocketAddr;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use tokio::sync::{Notify, oneshot};
use whimbrel_proto::{AssociationId, AssociationStats, Command, Config, ConnectToken, PathView};

use crate::accept::AcceptQueue;
use crate::association::Association;
use crate::endpoint::AssociationView;
use crate::endpoint_events::Subscribers;
use crate::error::ConnectError;
use crate::interfaces::Interfaces;
use crate::send_memory::SendMemory;
use crate::{Encapsulation, EndpointClosed};

/// Locks without minding a panic elsewhere: no critical section here leaves its data half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A wish that is not the protocol's but the driver's.
pub(crate) enum Request {
    Paths(AssociationId, oneshot::Sender<Vec<PathView>>),
    Stats(AssociationId, oneshot::Sender<AssociationStats>),
    /// Everything about all associations.
    Overview(oneshot::Sender<Vec<AssociationView>>),
    /// Begin (or stop) listening before any packet is looked at that arrives from now on: whoever was told the port
    /// may connect in the same instant.
    Listen(Command),
    /// The last handle is gone: finish what there is, then end.
    HandlesGone,
    /// Shut every association down, then end.
    Close,
    /// Abort every association, then end.
    Abort(Bytes),
}

pub(crate) type ConnectReply = oneshot::Sender<Result<Association, ConnectError>>;

/// What the driver takes each time it runs.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) commands: VecDeque<Command>,
    pub(crate) requests: Vec<Request>,
}

#[derive(Default)]
pub(crate) struct Queue {
    wishes: Wishes,
    connecting: FxHashMap<u64, ConnectReply>,
    next_token: u64,
    /// Set while the driver sleeps: whoever adds a wish takes it and wakes the driver, once.
    sleeper: Option<Waker>,
    /// No new associations and listeners.
    closing: bool,
    /// The driver is gone.
    closed: bool,
}

impl Queue {
    /// Adds a command. A closed endpoint has nobody to carry it out, so it is dropped.
    pub(crate) fn push(&mut self, command: Command) {
        if !self.closed {
            self.wishes.commands.push_back(command);
        }
    }

    /// To be fired once the locks are released.
    pub(crate) fn wake(&mut self) -> Wake {
        Wake(self.sleeper.take())
    }
}

/// Wakes the driver when fired, if it sleeps. Separate from pushing so that no lock is held while waking.
#[must_use]
pub(crate) struct Wake(Option<Waker>);

impl Wake {
    pub(crate) const NOBODY: Self = Self(None);

    pub(crate) fn fire(self) {
        if let Some(waker) = self.0 {
            waker.wake();
        }
    }
}

/// State of one endpoint that its handles and its driver see.
///
/// Lock order: a mailbox before `queue`; `listeners` and `queue` never together.
pub(crate) struct Shared {
    queue: Mutex<Queue>,
    listeners: Mutex<BTreeMap<u16, Arc<AcceptQueue>>>,
    finished: Notify,
    addresses: Mutex<Vec<SocketAddr>>,
    interfaces: Mutex<Arc<Interfaces>>,
    pub(crate) subscribers: Subscribers,
    pub(crate) encapsulation: Encapsulation,
    /// Our SCTP port for connecting; `None` leaves it to the machine.
    pub(crate) sctp_port: Option<u16>,
    /// What associations may have accepted but not delivered.
    pub(crate) send_memory: Arc<SendMemory>,
    /// Taken bytes are given back to the receive window when they reach this many, or when the driver next passes.
    pub(crate) release_threshold: usize,
}

impl Shared {
    pub(crate) fn new(
        encapsulation: Encapsulation,
        sctp_port: Option<u16>,
        config: &Config,
        send_memory: usize,
    ) -> Self {
        Self {
            queue: Mutex::default(),
            listeners: Mutex::default(),
            finished: Notify::new(),
            addresses: Mutex::default(),
            interfaces: Mutex::default(),
            subscribers: Subscribers::default(),
            encapsulation,
            sctp_port,
            send_memory: Arc::new(SendMemory::new(&config.limits, send_memory)),
            release_threshold: config.limits.first_receive_window() / 8,
        }
    }

    /// The local addresses that are open now.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        lock(&self.addresses).clone()
    }

    pub(crate) fn set_addresses(&self, addresses: Vec<SocketAddr>) {
        *lock(&self.addresses) = addresses;
    }

    /// What is known of this host's interfaces.
    pub(crate) fn interfaces(&self) -> Arc<Interfaces> {
        Arc::clone(&lock(&self.interfaces))
    }

    pub(crate) fn set_interfaces(&self, interfaces: Interfaces) {
        *lock(&self.interfaces) = Arc::new(interfaces);
    }

    /// Wakes the driver.
    pub(crate) fn wake(&self) {
        let wake = self.queue().wake();
        wake.fire();
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Adds a command and wakes the driver.
    pub(crate) fn command(&self, command: Command) {
        let mut queue = self.queue();
        queue.push(command);
        let wake = queue.wake();
        drop(queue);
        wake.fire();
    }

    /// Adds a request and wakes the driver. A closed endpoint drops it, and with it the channel for the answer.
    pub(crate) fn request(&self, request: Request) {
        let mut queue = self.queue();
        if queue.closed {
            return;
        }
        queue.wishes.requests.push(request);
        let wake = queue.wake();
        drop(queue);
        wake.fire();
    }

    /// Asks for an association; the answer comes through `reply`.
    pub(crate) fn connect(
        &self,
        reply: ConnectReply,
        command: impl FnOnce(ConnectToken) -> Command,
    ) -> Result<ConnectToken, EndpointClosed> {
        let mut queue = self.queue();
        if queue.closing || queue.closed {
            return Err(EndpointClosed);
        }
        let token = ConnectToken(queue.next_token);
        queue.next_token += 1;
        queue.connecting.insert(token.0, reply);
        queue.push(command(token));
        let wake = queue.wake();
        drop(queue);
        wake.fire();
        Ok(token)
    }

    /// Gives up an attempt. Nothing happens if it has been answered already.
    pub(crate) fn cancel_connect(&self, token: ConnectToken) {
        let mut queue = self.queue();
        if queue.connecting.remove(&token.0).is_some() {
            queue.push(Command::CancelConnect { token });
            let wake = queue.wake();
            drop(queue);
            wake.fire();
        }
    }

    /// Whoever waits for the answer to `token`, once.
    pub(crate) fn take_connecting(&self, token: ConnectToken) -> Option<ConnectReply> {
        self.queue().connecting.remove(&token.0)
    }

    pub(crate) fn is_connecting(&self) -> bool {
        !self.queue().connecting.is_empty()
    }

    /// Fails every attempt that is under way.
    pub(crate) fn fail_connecting(&self) {
        let replies = core::mem::take(&mut self.queue().connecting);
        for reply in replies.into_values() {
            // The caller may have given up meanwhile.
            let _ = reply.send(Err(EndpointClosed.into()));
        }
    }

    /// Moves all wishes to `wishes`, whose commands must have been carried out. True if there are any.
    pub(crate) fn take_wishes(&self, wishes: &mut Wishes) -> bool {
        let mut queue = self.queue();
        if wishes.commands.is_empty() {
            core::mem::swap(&mut queue.wishes.commands, &mut wishes.commands);
        }
        wishes.requests.append(&mut queue.wishes.requests);
        !(wishes.commands.is_empty() && wishes.requests.is_empty())
    }

    /// Puts the driver to sleep unless a wish has come meanwhile.
    pub(crate) fn park(&self, waker: &Waker) -> bool {
        let mut queue = self.queue();
        if !queue.wishes.commands.is_empty() || !queue.wishes.requests.is_empty() {
            return false;
        }
        match &mut queue.sleeper {
            Some(old) => old.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        true
    }

    /// Refuses new associations and listeners from now on, and ends those that are waiting.
    pub(crate) fn begin_close(&self, request: Request) {
        self.queue().closing = true;
        self.request(request);
        self.fail_connecting();
        self.close_listeners();
    }

    pub(crate) fn is_closing(&self) -> bool {
        let queue = self.queue();
        queue.closing || queue.closed
    }

    /// The driver's last word: nobody carries out wishes any more.
    pub(crate) fn finish(&self) {
        let wishes = {
            let mut queue = self.queue();
            queue.closed = true;
            core::mem::take(&mut queue.wishes)
        };
        // Dropped outside the lock: dropping messages and channels runs code that is not ours.
        drop(wishes);
        self.fail_connecting();
        self.close_listeners();
        self.subscribers.end();
        self.finished.notify_waiters();
    }

    /// Waits for [`Shared::finish`].
    pub(crate) async fn ended(&self) {
        loop {
            let finished = self.finished.notified();
            if self.queue().closed {
                return;
            }
            finished.await;
        }
    }

    pub(crate) fn listeners(&self) -> MutexGuard<'_, BTreeMap<u16, Arc<AcceptQueue>>> {
        lock(&self.listeners)
    }

    /// Ends every listener; associations nobody has accepted are dropped.
    pub(crate) fn close_listeners(&self) {
        let listeners = core::mem::take(&mut *self.listeners());
        for queue in listeners.into_values() {
            queue.close();
        }
    }
}

/// Every handle of an endpoint holds this; when the last goes, the driver is told.
pub(crate) struct Client(pub(crate) Arc<Shared>);

impl core::ops::Deref for Client {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.0.request(Request::HandlesGone);
    }
}
