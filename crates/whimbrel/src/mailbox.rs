//! What an association's handles and the driver share: messages on their way to the user, and room to send.

mod delivery;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use tokio::sync::Notify;
use whimbrel_handover::Decision;
use whimbrel_proto::{AssociationId, CloseReason, Command, Message, Received, SendError, is_about_keys};

use crate::association::Setup;
use crate::changes::Changes;
use crate::error::{RecvError, TrySendError};
use crate::events::{AssociationEvent, Subscriber};
use crate::inbox::Wake;
use crate::received::{Item, ReceivedQueue};
use crate::send_memory::SendMemory;
use crate::send_queue::SendQueue;
use crate::shared::{Shared, lock};
use delivery::Delivery;

/// One association's mailbox.
///
/// What it holds is bounded: received messages by the receive window, since bytes are given back to it only when
/// taken; messages to send by the send buffer, counted here and credited when the peer acknowledges. A small message
/// counts for more than its bytes in both, so that its bookkeeping is bounded, too.
pub(crate) struct Mailbox {
    pub(crate) id: AssociationId,
    pub(crate) setup: Setup,
    pub(crate) changes: Changes,
    state: Mutex<State>,
    pub(crate) readable: Notify,
    pub(crate) writable: Notify,
    pub(crate) ended: Notify,
    /// Senders that wait for room queue here, so that they go first come, first served.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

struct State {
    received: ReceivedQueue,
    /// Accepted from the user and not yet acknowledged by the peer.
    queued: SendQueue,
    /// Senders waiting for room; the others must not overtake them.
    waiting_senders: usize,
    outbound_streams: u16,
    /// Packets are protected: messages about keys are the association's own.
    protected: bool,
    phase: Phase,
    /// No handle is left: messages that still arrive are dropped.
    abandoned: bool,
    subscribers: Vec<Weak<Subscriber>>,
}

enum Phase {
    Open,
    /// No new data may be sent.
    ShuttingDown,
    Closed {
        reason: CloseReason,
        undelivered: usize,
    },
}

/// What came of taking a message: nothing yet, or the outcome of `recv`.
pub(crate) type Taken = Option<Result<Option<Received>, RecvError>>;

impl Mailbox {
    pub(crate) fn new(
        id: AssociationId,
        outbound_streams: u16,
        setup: Setup,
        memory: Arc<SendMemory>,
    ) -> Self {
        Self {
            id,
            changes: Changes::new(setup.mobility),
            state: Mutex::new(State {
                received: ReceivedQueue::default(),
                queued: SendQueue::new(memory),
                waiting_senders: 0,
                outbound_streams,
                protected: setup.peer_key.is_some(),
                phase: Phase::Open,
                abandoned: false,
                subscribers: Vec::new(),
            }),
            setup,
            readable: Notify::new(),
            writable: Notify::new(),
            ended: Notify::new(),
            turn: tokio::sync::Mutex::new(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    // Commands of the user.

    /// Takes a message for sending if there is room. Only who waits in `turn` may pass `in_turn`.
    pub(crate) fn offer(&self, shared: &Shared, message: Message, in_turn: bool) -> Result<(), TrySendError> {
        let mut state = self.state();
        if let Err(error) = state.admit(&message, in_turn) {
            return Err(TrySendError { message, error });
        }
        // Under the mailbox's lock, so that no shutdown slips between the check and the queue.
        let mut queue = shared.inbox(self.id).queue();
        queue.push(Command::Send { association: self.id, message });
        let wake = queue.wake();
        drop(queue);
        drop(state);
        wake.fire();
        Ok(())
    }

    /// Takes messages for sending from the front of `messages` while there is room, all under one lock.
    pub(crate) fn offer_many(
        &self,
        shared: &Shared,
        messages: &mut VecDeque<Message>,
        in_turn: bool,
    ) -> Result<(), SendError> {
        let mut state = self.state();
        let mut queue = shared.inbox(self.id).queue();
        let outcome = loop {
            let Some(message) = messages.pop_front() else { break Ok(()) };
            match state.admit(&message, in_turn) {
                Ok(()) => queue.push(Command::Send { association: self.id, message }),
                Err(error) => {
                    messages.push_front(message);
                    break Err(error);
                }
            }
        };
        let wake = queue.wake();
        drop(queue);
        drop(state);
        wake.fire();
        outcome
    }

    /// Announces a sender that waits for room, until the guard is dropped.
    pub(crate) fn wait_for_room(&self) -> WaitingSender<'_> {
        self.state().waiting_senders += 1;
        WaitingSender(self)
    }

    pub(crate) fn take(&self, shared: &Shared) -> Taken {
        let mut state = self.state();
        match state.received.pop() {
            Some(Item::Message(received)) => {
                let wake = state.give_back(self.id, shared, shared.release_threshold);
                drop(state);
                wake.fire();
                Some(Ok(Some(received)))
            }
            Some(Item::Restarted) => Some(Err(RecvError::Restarted)),
            None => state.end(),
        }
    }

    /// Takes up to `limit` messages at once, and one where that is 0; `None` if there is nothing to report yet.
    pub(crate) fn take_many(
        &self,
        shared: &Shared,
        into: &mut Vec<Received>,
        limit: usize,
    ) -> Option<Result<usize, RecvError>> {
        let limit = limit.max(1);
        let mut state = self.state();
        let mut count = 0;
        while count < limit && !(count > 0 && state.received.restart_is_next()) {
            match state.received.pop() {
                Some(Item::Message(received)) => {
                    into.push(received);
                    count += 1;
                }
                Some(Item::Restarted) => return Some(Err(RecvError::Restarted)),
                None => break,
            }
        }
        if count == 0 {
            return state.end().map(|end| end.map(|_| 0));
        }
        let wake = state.give_back(self.id, shared, shared.release_threshold);
        drop(state);
        wake.fire();
        Some(Ok(count))
    }

    /// Begins a graceful shutdown, unless one has begun or the association is gone.
    pub(crate) fn shutdown(&self, shared: &Shared) {
        let mut state = self.state();
        // Also when the peer has begun: a second request changes nothing there.
        if !matches!(state.phase, Phase::Closed { .. }) {
            state.phase = Phase::ShuttingDown;
            let mut queue = shared.inbox(self.id).queue();
            queue.push(Command::Shutdown { association: self.id });
            let wake = queue.wake();
            drop(queue);
            drop(state);
            wake.fire();
            self.writable.notify_waiters();
        }
    }

    /// The last handle is gone: what was received is dropped, what was sent is still delivered.
    pub(crate) fn abandon(&self, shared: &Shared) {
        let mut state = self.state();
        state.abandoned = true;
        let dropped = state.received.pop_all();
        let wake = state.give_back(self.id, shared, 1);
        drop(state);
        wake.fire();
        drop(dropped);
        self.shutdown(shared);
    }

    pub(crate) fn subscribe(&self) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber::default());
        let mut state = self.state();
        match &state.phase {
            Phase::Closed { reason, undelivered } => {
                subscriber
                    .tell(AssociationEvent::Closed { reason: reason.clone(), undelivered: *undelivered });
            }
            _ => {
                state.subscribers.retain(|old| old.strong_count() > 0);
                state.subscribers.push(Arc::downgrade(&subscriber));
            }
        }
        subscriber
    }

    // Views.

    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        match &self.state().phase {
            Phase::Closed { reason, .. } => Some(reason.clone()),
            _ => None,
        }
    }

    pub(crate) fn outbound_streams(&self) -> u16 {
        self.state().outbound_streams
    }

    pub(crate) fn queued(&self) -> usize {
        self.state().queued.bytes()
    }

    // The driver's side.

    /// A policy has decided something about the association.
    pub(crate) fn decided(&self, decision: Decision) {
        self.state().publish(&AssociationEvent::Decision(decision));
    }

    /// Opens the mailbox for a run of events.
    pub(crate) fn deliver(&self) -> Delivery<'_> {
        Delivery::new(self, self.state())
    }
}

impl State {
    fn admit(&mut self, message: &Message, in_turn: bool) -> Result<(), SendError> {
        match self.phase {
            Phase::Open => {}
            Phase::ShuttingDown => return Err(SendError::ShuttingDown),
            Phase::Closed { .. } => return Err(SendError::Closed),
        }
        let bytes = message.payload.len();
        if bytes == 0 {
            return Err(SendError::Empty);
        }
        if message.stream.0 >= self.outbound_streams {
            return Err(SendError::NoSuchStream);
        }
        if self.protected && is_about_keys(message.ppid) {
            return Err(SendError::ReservedIdentifier);
        }
        if !self.queued.has_room(bytes) || (self.waiting_senders > 0 && !in_turn) {
            return Err(SendError::BufferFull);
        }
        self.queued.add(bytes);
        Ok(())
    }

    /// Gives the taken bytes back to the receive window if there are at least `threshold`.
    ///
    /// Fewer wait for the driver to pass by: the window is nearly open then, so nobody is held up, and the driver
    /// is not woken for each small message.
    fn give_back(&mut self, association: AssociationId, shared: &Shared, threshold: usize) -> Wake {
        if self.received.taken() < threshold || matches!(self.phase, Phase::Closed { .. }) {
            return Wake::NOBODY;
        }
        let bytes = self.received.give_back();
        let mut queue = shared.inbox(association).queue();
        queue.push(Command::Release { association, bytes });
        queue.wake()
    }

    fn end(&self) -> Taken {
        match &self.phase {
            Phase::Closed { reason: CloseReason::Shutdown, .. } => Some(Ok(None)),
            Phase::Closed { reason, .. } => Some(Err(RecvError::Closed(reason.clone()))),
            _ => None,
        }
    }

    fn publish(&mut self, event: &AssociationEvent) {
        self.subscribers.retain(|subscriber| match subscriber.upgrade() {
            Some(subscriber) => {
                subscriber.tell(event.clone());
                true
            }
            None => false,
        });
    }
}

/// A sender that waits for room.
pub(crate) struct WaitingSender<'a>(&'a Mailbox);

impl Drop for WaitingSender<'_> {
    fn drop(&mut self) {
        self.0.state().waiting_senders -= 1;
    }
}

#[cfg(test)]
#[path = "mailbox_tests.rs"]
mod tests;
