//! What an endpoint's handles and its drivers share: an inbox for each shard and the table of listeners.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core::net::SocketAddr;
use core::num::NonZeroU32;

use bytes::Bytes;
use tokio::sync::{Notify, oneshot};
use whimbrel_proto::{AssociationId, AssociationStats, Command, Config, HandOver, PathView};

use crate::Encapsulation;
use crate::accept::AcceptQueue;
use crate::association::Association;
use crate::endpoint::{AssociationView, HandOvers};
use crate::endpoint_events::Subscribers;
use crate::error::ConnectError;
use crate::inbox::Inbox;
use crate::interfaces::Interfaces;
use crate::metrics::Metrics;
use crate::send_memory::SendMemory;

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
    /// What the shard has counted.
    Metrics(oneshot::Sender<Metrics>),
    /// Begin (or stop) listening before any packet is looked at that arrives from now on: whoever was told the port
    /// may connect in the same instant.
    Listen(Command),
    /// The shard before has followed the host's links, and has its sockets on this UDP port.
    Follow(Arc<Interfaces>, u16),
    /// The last handle is gone: finish what there is, then end.
    HandlesGone,
    /// Shut every association down, then end.
    Close,
    /// Abort every association, then end.
    Abort(Bytes),
}

pub(crate) type ConnectReply = oneshot::Sender<Result<Association, ConnectError>>;

/// State of one endpoint that its handles and its drivers see.
///
/// Lock order: a mailbox before an inbox; `listeners` and an inbox never together.
pub(crate) struct Shared {
    inboxes: Box<[Inbox]>,
    count: NonZeroU32,
    /// Takes the next association that this side sets up.
    next_shard: AtomicU32,
    /// Shards that have something to do or may get it.
    busy: AtomicU32,
    /// The news of the host's links has not gone round all shards yet.
    following: AtomicBool,
    handed_over: AtomicU64,
    overflowed: AtomicU64,
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
        shards: NonZeroU32,
    ) -> Self {
        Self {
            inboxes: (0..shards.get()).map(|_| Inbox::default()).collect(),
            count: shards,
            next_shard: AtomicU32::new(0),
            busy: AtomicU32::new(shards.get()),
            following: AtomicBool::new(false),
            handed_over: AtomicU64::new(0),
            overflowed: AtomicU64::new(0),
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

    // ---- shards

    /// The inbox of each shard.
    pub(crate) fn inboxes(&self) -> &[Inbox] {
        &self.inboxes
    }

    /// The inbox of the shard that has this association.
    pub(crate) fn inbox(&self, association: AssociationId) -> &Inbox {
        &self.inboxes[association.shard(self.count) as usize]
    }

    /// The inbox of the shard that is to set up an association with a peer's SCTP port. Without a port of our own, they take turns. With one, two
    /// associations between the same ports might get in each other's way, so that one shard has all of them.
    pub(crate) fn inbox_for_connecting(&self, remote_port: u16) -> &Inbox {
        let number = match self.sctp_port {
            Some(_) => u32::from(remote_port),
            None => self.next_shard.fetch_add(1, Ordering::Relaxed),
        };
        &self.inboxes[(number % self.count) as usize]
    }

    /// Gives another shard what it has to handle.
    pub(crate) fn hand_over(&self, hand_over: HandOver) {
        self.handed_over.fetch_add(1, Ordering::Relaxed);
        let inbox = self.inboxes.get(hand_over.to() as usize);
        if !inbox.is_some_and(|inbox| inbox.hand_over(hand_over)) {
            self.overflowed.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn hand_overs(&self) -> HandOvers {
        HandOvers {
            total: self.handed_over.load(Ordering::Relaxed),
            dropped: self.overflowed.load(Ordering::Relaxed),
        }
    }

    /// A shard has nothing left to do and, as far as it knows, never will have.
    pub(crate) fn retire(&self) {
        if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            // They wait for each other: a socket that is closed alone would leave its packets to others.
            self.inboxes.iter().for_each(Inbox::wake);
        }
    }

    /// A shard that had retired has something to do.
    pub(crate) fn return_to_work(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn all_have_retired(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    // ---- addresses and links

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

    pub(crate) fn set_interfaces(&self, interfaces: Arc<Interfaces>) {
        *lock(&self.interfaces) = interfaces;
    }

    /// Whether the first shard may take news of the links: not before all have followed the last. They open their sockets in the order of their
    /// numbers, by which the system finds them.
    pub(crate) fn may_follow(&self) -> bool {
        !self.following.load(Ordering::Acquire)
    }

    /// A shard has followed the links: now it is the next one's turn.
    pub(crate) fn pass_on(&self, shard: usize, interfaces: Arc<Interfaces>, port: u16) {
        match self.inboxes.get(shard + 1) {
            Some(next) => {
                self.following.store(true, Ordering::Release);
                next.request(Request::Follow(interfaces, port));
            }
            None => {
                self.following.store(false, Ordering::Release);
                self.inboxes[0].wake();
            }
        }
    }

    // ---- listeners

    pub(crate) fn listeners(&self) -> MutexGuard<'_, BTreeMap<u16, Arc<AcceptQueue>>> {
        lock(&self.listeners)
    }

    /// Has all shards begin or stop listening.
    pub(crate) fn listen(&self, command: &Command) {
        for inbox in &self.inboxes {
            inbox.request(Request::Listen(command.clone()));
        }
    }

    /// Ends every listener; associations nobody has accepted are dropped.
    fn close_listeners(&self) {
        let listeners = core::mem::take(&mut *self.listeners());
        for queue in listeners.into_values() {
            queue.close();
        }
    }

    // ---- the end

    /// Refuses new associations and listeners from now on, and ends those that are waiting.
    pub(crate) fn begin_close(&self, request: impl Fn() -> Request) {
        self.inboxes.iter().for_each(|inbox| inbox.begin_close(request()));
        self.close_listeners();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.inboxes.iter().any(Inbox::is_closing)
    }

    fn is_closed(&self) -> bool {
        self.inboxes.iter().all(Inbox::is_closed)
    }

    /// The last word of a shard's driver: nobody carries out its wishes any more.
    pub(crate) fn finish(&self, shard: usize) {
        self.inboxes[shard].finish();
        if self.is_closed() {
            self.close_listeners();
            self.subscribers.end();
            self.finished.notify_waiters();
        }
    }

    /// Waits until every shard has finished.
    pub(crate) async fn ended(&self) {
        loop {
            let finished = self.finished.notified();
            if self.is_closed() {
                return;
            }
            finished.await;
        }
    }
}

/// Every handle of an endpoint holds this; when the last goes, the drivers are told.
pub(crate) struct Client(pub(crate) Arc<Shared>);

impl core::ops::Deref for Client {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.0.inboxes.iter().for_each(|inbox| inbox.request(Request::HandlesGone));
    }
}
