use std::sync::MutexGuard;

use whimbrel_proto::{CloseReason, Event, Received};

use super::{Mailbox, Phase, State};
use crate::events::AssociationEvent;

/// A run of events on their way into one mailbox, under one lock; the waiting tasks are woken once, at the end.
pub(crate) struct Delivery<'a> {
    mailbox: &'a Mailbox,
    state: MutexGuard<'a, State>,
    readable: bool,
    credited: bool,
    ended: bool,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(mailbox: &'a Mailbox, state: MutexGuard<'a, State>) -> Self {
        Self { mailbox, state, readable: false, credited: false, ended: false }
    }

    /// Delivers one event of this association. `Up` and `ConnectFailed` are not mailbox matters.
    pub(crate) fn event(&mut self, event: Event) {
        match event {
            Event::Message { received, .. } => self.message(received),
            Event::Sent { bytes, room, .. } => {
                self.state.queued.set_room(room);
                self.credit(bytes);
            }
            Event::SendRefused { message, error, .. } => {
                self.credit(message.payload.len());
                self.state.publish(&AssociationEvent::SendRefused { message, error });
            }
            Event::Path { path, route, state, .. } => {
                self.state.publish(&AssociationEvent::Path { path, route, state });
            }
            Event::PathInUse { path, route, .. } => {
                self.state.publish(&AssociationEvent::PathInUse { path, route });
            }
            Event::Restarted { outbound_streams, undelivered, .. } => {
                self.restarted(outbound_streams, undelivered);
            }
            Event::PeerShutdown { .. } => {
                if matches!(self.state.phase, Phase::Open) {
                    self.state.phase = Phase::ShuttingDown;
                }
                // Senders that wait must learn that they wait in vain.
                self.credited = true;
                self.state.publish(&AssociationEvent::PeerShutdown);
            }
            Event::PeerError { causes, .. } => self.state.publish(&AssociationEvent::PeerError { causes }),
            Event::Closed { reason, undelivered, .. } => self.closed(reason, undelivered),
            Event::PathQuality { path, route, quality, .. } => {
                self.state.publish(&AssociationEvent::PathQuality { path, route, quality });
            }
            Event::PathEstimates { path, .. } => {
                self.state.publish(&AssociationEvent::PathEstimates { path });
            }
            Event::PathGone { path, route, .. } => {
                self.state.publish(&AssociationEvent::PathGone { path, route });
            }
            Event::AddressChanged { change, outcome, .. } => {
                self.mailbox.changes.answered(&change, outcome);
                self.state.publish(&AssociationEvent::AddressChanged { change, outcome });
            }
            Event::PeerAddress { address, change, .. } => {
                self.state.publish(&AssociationEvent::PeerAddress { address, change });
            }
            Event::MobilityChanged { mobility, .. } => {
                self.mailbox.changes.set_mobility(mobility);
                self.state.publish(&AssociationEvent::MobilityChanged { mobility });
            }
            Event::AuthKey { key, news, .. } => self.state.publish(&AssociationEvent::AuthKey { key, news }),
            Event::Up { .. } | Event::ConnectFailed { .. } => {}
        }
    }

    fn message(&mut self, received: Received) {
        if self.state.abandoned {
            self.state.received.pass_over(&received);
        } else {
            self.state.received.push(received);
            self.readable = true;
        }
    }

    fn credit(&mut self, bytes: usize) {
        self.state.queued.credit(bytes);
        self.credited = true;
    }

    fn restarted(&mut self, outbound_streams: u16, undelivered: usize) {
        self.state.outbound_streams = outbound_streams;
        self.credit(undelivered);
        if !self.state.abandoned {
            self.state.received.restarted();
            self.readable = true;
        }
        self.state.publish(&AssociationEvent::Restarted { outbound_streams, undelivered });
    }

    pub(crate) fn closed(&mut self, reason: CloseReason, undelivered: usize) {
        if matches!(self.state.phase, Phase::Closed { .. }) {
            return;
        }
        self.mailbox.changes.close();
        self.state.queued.clear();
        self.state.publish(&AssociationEvent::Closed { reason: reason.clone(), undelivered });
        self.state.subscribers = Vec::new();
        self.state.phase = Phase::Closed { reason, undelivered };
        self.ended = true;
    }

    /// Whether the peer has acknowledged all that was taken for sending.
    pub(crate) fn is_all_acknowledged(&self) -> bool {
        self.state.queued.bytes() == 0
    }

    /// Ends the run: wakes who waits, and returns the bytes that were taken since the driver last passed, and
    /// whether the window needs them at once because nobody reads here any more.
    pub(crate) fn finish(mut self) -> (usize, bool) {
        let taken = self.state.received.give_back();
        let urgent = self.state.abandoned && taken > 0;
        // Waking a sender for every acknowledgement would cost more than the data: wait for a quarter of the buffer.
        let roomy = self.credited
            && self.state.waiting_senders > 0
            && (self.state.queued.is_roomy() || !matches!(self.state.phase, Phase::Open));
        let Self { mailbox, state, readable, ended, .. } = self;
        drop(state);
        if readable || ended {
            mailbox.readable.notify_waiters();
        }
        if roomy || ended {
            mailbox.writable.notify_waiters();
        }
        if ended {
            mailbox.ended.notify_waiters();
        }
        (taken, urgent)
    }
}
