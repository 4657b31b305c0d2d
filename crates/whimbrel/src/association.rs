use std::collections::VecDeque;
use std::sync::Arc;

use core::pin::pin;

use bytes::Bytes;
use tokio::sync::oneshot;
use whimbrel_machine::Route;
use whimbrel_proto::{
    AssociationId, AssociationStats, CloseReason, Command, Message, Mobility, PathId, PathView, PeerKey,
    Received, SendError,
};
use whimbrel_secure::PublicKey;
use whimbrel_wire::StreamId;

use crate::error::{RecvError, TrySendError};
use crate::events::Events;
use crate::inbox::Inbox;
use crate::mailbox::Mailbox;
use crate::shared::{Client, Request};
use crate::stream::Stream;

mod addresses;
mod agreed;

/// One association: messages in both directions over as many paths as the two hosts have.
///
/// A cheap handle: clone it to use the association from several tasks, for instance one that sends and one that
/// receives. When the last clone (and the last [`Stream`]) is dropped, the association is shut down gracefully in
/// the background: what was sent is still delivered, what arrives is thrown away.
#[derive(Clone)]
pub struct Association(Arc<Inner>);

struct Inner {
    mailbox: Arc<Mailbox>,
    client: Arc<Client>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.mailbox.abandon(&self.client);
    }
}

/// What was agreed when the association was set up.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) inbound_streams: u16,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) primary: Route,
    pub(crate) mobility: Mobility,
    pub(crate) peer_adaptation: Option<u32>,
    pub(crate) peer_key: Option<PeerKey>,
}

impl Association {
    pub(crate) fn new(client: Arc<Client>, mailbox: Arc<Mailbox>) -> Self {
        Self(Arc::new(Inner { mailbox, client }))
    }

    fn mailbox(&self) -> &Mailbox {
        &self.0.mailbox
    }

    fn inbox(&self) -> &Inbox {
        self.0.client.inbox(self.mailbox().id)
    }

    // Sending.

    /// Sends a message: returns as soon as it is in the send buffer, waits while that is full.
    ///
    /// Waiting senders go first come, first served. A message larger than the whole send buffer
    /// (`config.limits.send_buffer`) goes when the buffer is empty; small ones count as 64 bytes each. Delivery is not confirmed one by one;
    /// [`Association::shutdown`] says whether everything arrived.
    ///
    /// Cancel-safe: dropped before it returns, the message is not sent.
    ///
    /// # Errors
    /// [`SendError`] but never `BufferFull`; [`Association::close_reason`] tells more about `Closed`.
    pub async fn send(&self, message: Message) -> Result<(), SendError> {
        let refused = match self.mailbox().offer(&self.0.client, message, false) {
            Ok(()) => return Ok(()),
            Err(refused) if refused.error != SendError::BufferFull => return Err(refused.error),
            Err(refused) => refused,
        };
        let mut message = refused.message;
        let _waiting = self.mailbox().wait_for_room();
        let _turn = self.mailbox().turn.lock().await;
        loop {
            let mut room = pin!(self.mailbox().writable.notified());
            match self.mailbox().offer(&self.0.client, message, true) {
                Ok(()) => return Ok(()),
                Err(refused) if refused.error == SendError::BufferFull => message = refused.message,
                Err(refused) => return Err(refused.error),
            }
            room.as_mut().await;
        }
    }

    /// Sends a message if there is room for it now.
    ///
    /// # Errors
    /// The message comes back, with [`SendError::BufferFull`] if [`Association::send`] would wait.
    pub fn try_send(&self, message: Message) -> Result<(), TrySendError> {
        self.mailbox().offer(&self.0.client, message, false)
    }

    /// Sends all of `messages` in order, waiting for room as needed. Cheaper than one [`Association::send`] after
    /// another when messages are small.
    ///
    /// Cancel-safe: messages leave the front of the queue as they are taken; those still in it are not sent.
    ///
    /// # Errors
    /// As [`Association::send`]; the message at fault is then the first in the queue.
    pub async fn send_many(&self, messages: &mut VecDeque<Message>) -> Result<(), SendError> {
        match self.mailbox().offer_many(&self.0.client, messages, false) {
            Err(SendError::BufferFull) => {}
            outcome => return outcome,
        }
        let _waiting = self.mailbox().wait_for_room();
        let _turn = self.mailbox().turn.lock().await;
        loop {
            let room = self.mailbox().writable.notified();
            match self.mailbox().offer_many(&self.0.client, messages, true) {
                Err(SendError::BufferFull) => room.await,
                outcome => return outcome,
            }
        }
    }

    /// A handle to send on one stream. Any number may exist; streams need no opening.
    ///
    /// `None` if the association has no outbound stream of that number.
    pub fn stream(&self, id: u16) -> Option<Stream> {
        (id < self.outbound_streams()).then(|| Stream::new(self.clone(), StreamId(id)))
    }

    // Receiving.

    /// The next message, from whatever stream; `None` when the association was shut down gracefully and everything
    /// has been received.
    ///
    /// Messages arrive whole, and in order within their stream; one that is larger than the receive buffer ends the association, unless
    /// [`EndpointBuilder::large_messages`](crate::EndpointBuilder::large_messages) asks for parts. What is not received fills the receive window
    /// (`config.limits.receive_buffer`), and then holds up the sender. Several tasks may receive at once; each message
    /// goes to one of them.
    ///
    /// A peer that has vanished looks like one that has nothing to say: this waits until it counts as lost, which is two hours with
    /// [`Config::mobile`](crate::Config::mobile) (`config.failure.association` there makes it less), or until the future is dropped.
    ///
    /// Cancel-safe: a message is taken only by a call that returns it.
    ///
    /// # Errors
    /// [`RecvError::Restarted`] once per restart of the peer, between the messages before and after;
    /// [`RecvError::Closed`] when the association ended otherwise than by shutdown and everything that arrived has
    /// been received.
    pub async fn recv(&self) -> Result<Option<Received>, RecvError> {
        loop {
            if let Some(outcome) = self.mailbox().take(&self.0.client) {
                return outcome;
            }
            let arrived = self.mailbox().readable.notified();
            if let Some(outcome) = self.mailbox().take(&self.0.client) {
                return outcome;
            }
            arrived.await;
        }
    }

    /// The next message if there is one already: `Ok(None)` means that there is none now, or none ever again.
    ///
    /// # Errors
    /// As [`Association::recv`].
    pub fn try_recv(&self) -> Result<Option<Received>, RecvError> {
        self.mailbox().take(&self.0.client).unwrap_or(Ok(None))
    }

    /// Waits for messages and appends up to `limit` of them to `into`; returns how many, and 0 only when the association was
    /// shut down gracefully and everything has been received: a limit of 0 counts as 1. Cheaper than [`Association::recv`] when
    /// messages are small.
    ///
    /// Cancel-safe: messages are taken only by a call that returns.
    ///
    /// # Errors
    /// As [`Association::recv`].
    pub async fn recv_many(&self, into: &mut Vec<Received>, limit: usize) -> Result<usize, RecvError> {
        loop {
            let arrived = self.mailbox().readable.notified();
            if let Some(outcome) = self.mailbox().take_many(&self.0.client, into, limit) {
                return outcome;
            }
            arrived.await;
        }
    }

    // Ending.

    /// Closes gracefully: everything sent so far is delivered first, and what the peer has sent can still be received
    /// meanwhile (and must be, if it is more than the receive window holds). Resolves when the association is gone.
    ///
    /// A peer that has vanished holds this up until it counts as lost: for two hours with [`Config::mobile`](crate::Config::mobile) while it lacks
    /// anything (`config.failure.association` makes it less). Who will not wait so long has a timeout around this, and then [`Association::abort`].
    ///
    /// Dropping the future does not take the shutdown back; one that was never polled does nothing.
    ///
    /// # Errors
    /// Why the association ended, if not by graceful shutdown: then messages may be lost.
    pub async fn shutdown(&self) -> Result<(), CloseReason> {
        self.mailbox().shutdown(&self.0.client);
        match self.closed().await {
            CloseReason::Shutdown => Ok(()),
            other => Err(other),
        }
    }

    /// Closes at once and tells the peer why; what is under way in either direction may be lost. The peer gets up to
    /// 512 bytes of `reason`.
    pub fn abort(&self, reason: impl Into<Bytes>) {
        self.inbox().command(Command::Abort { association: self.id(), reason: reason.into() });
    }

    /// Waits until the association is gone, and says why.
    ///
    /// Cancel-safe.
    pub async fn closed(&self) -> CloseReason {
        loop {
            let ended = self.mailbox().ended.notified();
            if let Some(reason) = self.mailbox().close_reason() {
                return reason;
            }
            ended.await;
        }
    }

    /// Why the association is gone; `None` while it is not.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.mailbox().close_reason()
    }

    // Paths.

    /// The paths as they are now; none once the association is gone.
    pub async fn paths(&self) -> Vec<PathView> {
        let (reply, answer) = oneshot::channel();
        self.inbox().request(Request::Paths(self.id(), reply));
        answer.await.unwrap_or_default()
    }

    /// Totals so far; `None` once the association is gone.
    pub async fn stats(&self) -> Option<AssociationStats> {
        let (reply, answer) = oneshot::channel();
        self.inbox().request(Request::Stats(self.id(), reply));
        answer.await.ok()
    }

    /// What happens to the association from now on, besides messages: changes of paths, restarts, errors, the end.
    ///
    /// Each call makes an independent receiver.
    pub fn events(&self) -> Events {
        Events::new(self.mailbox().subscribe())
    }

    /// Makes a path the primary path: new data goes out on it while it is active. Nothing happens if the path is
    /// unknown or not confirmed; [`AssociationEvent::PathInUse`](crate::AssociationEvent::PathInUse) tells when data
    /// has moved.
    pub fn set_primary(&self, path: PathId) {
        self.inbox().command(Command::SetPrimary { association: self.id(), path });
    }

    /// Sends a heartbeat on a path now.
    pub fn request_heartbeat(&self, path: PathId) {
        self.inbox().command(Command::RequestHeartbeat { association: self.id(), path });
    }

    // Plain facts.

    /// The association's name within its endpoint, for display and logs.
    pub fn id(&self) -> AssociationId {
        self.mailbox().id
    }

    /// Outbound streams: [`Message::stream`] must be below this. May change when the peer restarts.
    pub fn outbound_streams(&self) -> u16 {
        self.mailbox().outbound_streams()
    }

    /// Inbound streams that the peer may use.
    pub fn inbound_streams(&self) -> u16 {
        self.mailbox().setup.inbound_streams
    }

    /// Our SCTP port.
    pub fn local_port(&self) -> u16 {
        self.mailbox().setup.local_port
    }

    /// The peer's SCTP port.
    pub fn remote_port(&self) -> u16 {
        self.mailbox().setup.remote_port
    }

    /// Who the peer has proved to be; `None` if the association is not encrypted ([`EndpointBuilder::security`](crate::EndpointBuilder::security)).
    pub fn peer_key(&self) -> Option<PublicKey> {
        self.mailbox().setup.peer_key.as_ref().and_then(|key| PublicKey::try_from(key).ok())
    }

    /// The code point that the peer's user has announced (`config.dar.adaptation_indication` there; RFC 5061 §4.2.6).
    pub fn peer_adaptation(&self) -> Option<u32> {
        self.mailbox().setup.peer_adaptation
    }

    /// The primary path's addresses when the association was set up.
    pub fn initial_route(&self) -> Route {
        self.mailbox().setup.primary
    }

    /// Bytes that were taken for sending and that the peer has not acknowledged yet.
    pub fn send_queued(&self) -> usize {
        self.mailbox().queued()
    }
}

impl core::fmt::Debug for Association {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Association")
            .field("id", &self.id())
            .field("local_port", &self.local_port())
            .field("remote_port", &self.remote_port())
            .field("initial_route", &self.initial_route())
            .finish_non_exhaustive()
    }
}
