use std::sync::Arc;

use core::net::SocketAddr;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;
use whimbrel_proto::{AssociationId, AssociationStats, Command, ConnectToken, Mobility, PathView};

use crate::accept::{AcceptQueue, Listener};
use crate::association::Association;
use crate::builder::{Encapsulation, EndpointBuilder, SCTP_OVER_UDP_PORT};
use crate::endpoint_events::EndpointEvents;
use crate::error::{BindError, ConnectError, EndpointClosed, ListenError};
use crate::inbox::Inbox;
use crate::interfaces::Interfaces;
use crate::metrics::Metrics;
use crate::persistence::{Persistence, chance};
use crate::shared::{Client, Request};

/// One SCTP stack: local addresses, their sockets, and the associations over them.
///
/// A cheap handle; clone it freely. Any number of endpoints can live in a process, they share nothing. When all handles
/// are dropped, existing associations live on (see the crate's documentation).
#[derive(Clone)]
pub struct Endpoint {
    client: Arc<Client>,
}

impl Endpoint {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client }
    }

    /// Opens an endpoint on these local addresses, SCTP inside UDP, with [`Config::mobile`](crate::Config::mobile).
    ///
    /// The port is the UDP port, the same for all addresses; 0 picks a free one.
    ///
    /// # Errors
    /// [`BindError`], each of which says what to do.
    pub async fn bind(addresses: impl IntoIterator<Item = SocketAddr>) -> Result<Self, BindError> {
        Self::builder().addresses(addresses).bind().await
    }

    /// Sets up an endpoint with other choices.
    pub fn builder() -> EndpointBuilder {
        EndpointBuilder::new()
    }

    /// The local addresses as they are now, with the UDP port in use (0 on raw IP).
    pub fn local_addresses(&self) -> Vec<SocketAddr> {
        self.client.addresses()
    }

    /// What is known of this host's interfaces now. Empty unless somebody has a reason to look: an endpoint on loopback
    /// addresses only, without sources of link facts, does not watch interfaces.
    pub fn interfaces(&self) -> Arc<Interfaces> {
        self.client.interfaces()
    }

    /// All associations as they are now, oldest first; none once the endpoint is closed.
    pub async fn associations(&self) -> Vec<AssociationView> {
        let mut answers = Vec::new();
        for inbox in self.client.inboxes() {
            let (reply, answer) = oneshot::channel();
            inbox.request(Request::Overview(reply));
            answers.push(answer);
        }
        let mut all = Vec::new();
        for answer in answers {
            all.append(&mut answer.await.unwrap_or_default());
        }
        all.sort_by_key(|association| association.id);
        all
    }

    /// What shards of the endpoint have received for each other, since it began; see [`EndpointBuilder::shards`].
    pub fn hand_overs(&self) -> HandOvers {
        self.client.hand_overs()
    }

    /// What the endpoint has done so far, in numbers, all its shards and associations together. Each shard answers between two steps, and looks
    /// at all its associations; nothing is shared with the path of packets. All zeros once the endpoint is closed.
    ///
    /// ```no_run
    /// # async fn example(endpoint: &whimbrel::Endpoint) {
    /// let metrics = endpoint.metrics().await;
    /// println!("{} of {} chunks were sent again", metrics.totals.stats.data_retransmitted, metrics.totals.stats.data_sent);
    /// # }
    /// ```
    pub async fn metrics(&self) -> Metrics {
        let ask = |inbox: &Inbox| {
            let (reply, answer) = oneshot::channel();
            inbox.request(Request::Metrics(reply));
            answer
        };
        let answers: Vec<_> = self.client.inboxes().iter().map(ask).collect();
        let mut all = Metrics { hand_overs: self.hand_overs(), ..Metrics::default() };
        for answer in answers {
            all.add(&answer.await.unwrap_or_default());
        }
        all
    }

    /// What happens to the endpoint from now on: addresses that come and go, link facts that make no sense.
    ///
    /// Each call makes an independent receiver; the first one also gets what happened before.
    pub fn events(&self) -> EndpointEvents {
        self.client.subscribers.subscribe()
    }

    /// Accepts associations on an SCTP port, until the [`Listener`] is dropped.
    ///
    /// A peer that connects after this has returned is not refused.
    ///
    /// # Errors
    /// [`ListenError`]: the port has a listener already, or the endpoint is closed.
    pub fn listen(&self, sctp_port: u16) -> Result<Listener, ListenError> {
        if sctp_port == 0 {
            return Err(ListenError::PortZero);
        }
        let mut listeners = self.client.listeners();
        if listeners.contains_key(&sctp_port) {
            return Err(ListenError::AlreadyListening(sctp_port));
        }
        let queue = Arc::new(AcceptQueue::default());
        listeners.insert(sctp_port, queue.clone());
        drop(listeners);
        if self.client.is_closing() {
            self.client.listeners().remove(&sctp_port);
            return Err(EndpointClosed.into());
        }
        self.client.listen(&Command::Listen { port: sctp_port });
        Ok(Listener::new(self.client.clone(), queue, sctp_port))
    }

    /// Sets up an association with the peer that has these addresses, best first, and listens on `sctp_port`.
    ///
    /// Of the peer's addresses one that works is enough: it tells the others. With UDP encapsulation their port is the
    /// peer's UDP port (0 means [`SCTP_OVER_UDP_PORT`]).
    ///
    /// Where the network that was chosen falls silent before there are keys, or goes, the attempt begins anew over all that there are, until
    /// [`KEY_EXCHANGE`](crate::KEY_EXCHANGE) has passed. So long it is tried again, too, ever more seldom, where the peer is out of resources: it has
    /// as many associations as it takes, or too many begin at once. An encrypted endpoint has 256 in each shard that have not agreed on keys yet,
    /// and then the oldest of them makes way for a new one. Clients that all come back after a server's restart are served within seconds that way.
    ///
    /// With [`Config::mobile`](crate::Config::mobile) a peer that never answers is waited for about a minute (`config.failure.max_init_retransmits` makes it
    /// less, or a timeout around this). Once the association is up, a peer that vanishes counts as lost after two hours
    /// (`config.failure.association`).
    ///
    /// Dropping the future gives the attempt up; if it succeeds at that very moment, the association is closed again.
    ///
    /// # Errors
    /// [`ConnectError`]: the peer does not answer, refuses, or cannot be reached from here.
    pub async fn connect(&self, remote: &[SocketAddr], sctp_port: u16) -> Result<Association, ConnectError> {
        let mut persistence = Persistence::new(Instant::now());
        loop {
            let outcome = self.attempt(self.check_remote(remote, sctp_port)?, sctp_port).await;
            let Err(error) = &outcome else { return outcome };
            match persistence.pause(Instant::now(), error, chance()) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return outcome,
            }
        }
    }

    async fn attempt(&self, remote: Vec<SocketAddr>, sctp_port: u16) -> Result<Association, ConnectError> {
        let local_port = self.client.sctp_port;
        let (reply, answer) = oneshot::channel();
        let inbox = self.client.inbox_for_connecting(sctp_port);
        let token = inbox.connect(reply, |token| Command::Connect {
            token,
            remote,
            remote_port: sctp_port,
            local_port,
        })?;
        let _attempt = Attempt { inbox, token };
        answer.await.unwrap_or(Err(ConnectError::Closed(EndpointClosed)))
    }

    fn check_remote(&self, remote: &[SocketAddr], sctp_port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        if sctp_port == 0 {
            return Err(ConnectError::PortZero);
        }
        if remote.is_empty() {
            return Err(ConnectError::NoAddress);
        }
        let mut addresses = Vec::with_capacity(remote.len());
        for &address in remote {
            if address.ip().is_unspecified() || address.ip().is_multicast() {
                return Err(ConnectError::NotAHost(address));
            }
            let mut address = address;
            match self.client.encapsulation {
                Encapsulation::Udp if address.port() == 0 => address.set_port(SCTP_OVER_UDP_PORT),
                Encapsulation::Udp => {}
                Encapsulation::RawIp => address.set_port(0),
            }
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let ours = self.local_addresses();
        if ours.is_empty() {
            return Err(ConnectError::NoLocalAddress);
        }
        if !addresses.iter().any(|theirs| ours.iter().any(|our| our.is_ipv4() == theirs.is_ipv4())) {
            return Err(ConnectError::NoCommonFamily);
        }
        Ok(addresses)
    }

    /// Shuts every association down gracefully and waits until all are gone and the sockets are closed. Attempts to
    /// connect fail, listeners end.
    ///
    /// Peers that have vanished hold this up until they count as lost, which is two hours with [`Config::mobile`](crate::Config::mobile)
    /// (`config.failure.association` makes it less). [`Endpoint::abort`] does not wait for them, also when this has begun.
    /// Messages that the peers still send can be received meanwhile.
    ///
    /// Dropping the future does not take it back.
    pub async fn close(&self) {
        self.client.begin_close(|| Request::Close);
        self.client.ended().await;
    }

    /// Aborts every association, telling the peers why, and closes the endpoint.
    pub fn abort(&self, reason: impl Into<Bytes>) {
        let reason = reason.into();
        self.client.begin_close(|| Request::Abort(reason.clone()));
    }
}

/// One of an endpoint's associations, seen from outside.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AssociationView {
    /// Its name within the endpoint.
    pub id: AssociationId,
    /// Our SCTP port.
    pub local_port: u16,
    /// The peer's SCTP port.
    pub remote_port: u16,
    /// Whether addresses can come and go.
    pub mobility: Mobility,
    /// Its paths.
    pub paths: Vec<PathView>,
    /// Its totals.
    pub stats: AssociationStats,
}

/// Packets, and errors of the network, that one shard of an endpoint has received and another has to handle.
///
/// Where the system steers packets (Linux), there are next to none: restarts of a peer (their INIT has no tag yet), ICMP errors, packets of
/// several associations that a peer or the network has joined to one train. Elsewhere it is all but one shard's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct HandOvers {
    /// How many.
    pub total: u64,
    /// Of these, how many were dropped because the shard was too far behind: no more than 4 MiB wait.
    pub dropped: u64,
}

/// An attempt to connect: dropped before it is answered, it is cancelled.
struct Attempt<'a> {
    inbox: &'a Inbox,
    token: ConnectToken,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.inbox.cancel_connect(self.token);
    }
}

impl core::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Endpoint").field("addresses", &self.local_addresses()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
