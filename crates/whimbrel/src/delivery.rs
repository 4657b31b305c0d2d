//! From the machine's events to mailboxes, listeners and whoever waits for a connection.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_proto::{AssociationId, Command, ConnectToken, Event};

use crate::association::{Association, Setup};
use crate::error::ConnectError;
use crate::inbox::Inbox;
use crate::mailbox::Mailbox;
use crate::metrics::Metrics;
use crate::registry::Registry;
use crate::shared::{Client, Shared};
use crate::witness::Witness;

/// What a delivery works with, all the driver's.
pub(crate) struct Deliverer<'a> {
    pub(crate) now: Instant,
    pub(crate) shared: &'a Shared,
    pub(crate) inbox: &'a Inbox,
    pub(crate) client: &'a Weak<Client>,
    pub(crate) registry: &'a mut Registry,
    pub(crate) releases: &'a mut Vec<Command>,
    pub(crate) commands: &'a mut VecDeque<Command>,
    pub(crate) metrics: &'a mut Metrics,
    pub(crate) witness: &'a mut Witness,
}

impl Deliverer<'_> {
    /// Delivers the events of one step. Neighbours of one association go under one lock, with one wake-up.
    pub(crate) fn deliver(&mut self, events: &mut Vec<Event>) {
        let mut events = events.drain(..).peekable();
        while let Some(event) = events.next() {
            self.metrics.count(&event);
            match event {
                Event::Up {
                    association,
                    token,
                    outbound_streams,
                    inbound_streams,
                    local_port,
                    remote_port,
                    primary,
                    mobility,
                    peer_adaptation,
                    peer_key,
                } => {
                    let setup = Setup {
                        inbound_streams,
                        local_port,
                        remote_port,
                        primary,
                        mobility,
                        peer_adaptation,
                        peer_key,
                    };
                    self.up(association, token, outbound_streams, setup);
                }
                Event::ConnectFailed { token, reason } => {
                    self.witness.connect_failed(&reason);
                    if let Some(reply) = self.inbox.take_connecting(token) {
                        // Who asked may have given up.
                        let _ = reply.send(Err(ConnectError::Failed(reason)));
                    }
                }
                first => {
                    let Some(association) = association_of(&first) else { continue };
                    self.run(association, first, &mut events);
                }
            }
        }
    }

    fn run(
        &mut self,
        association: AssociationId,
        first: Event,
        events: &mut core::iter::Peekable<impl Iterator<Item = Event>>,
    ) {
        let mut closed = matches!(first, Event::Closed { .. });
        let Some(entry) = self.registry.entry(association) else { return };
        let mut delivery = entry.mailbox.deliver();
        entry.moves.count(self.now, &first, self.metrics);
        delivery.event(first);
        while let Some(event) = events.next_if(|event| association_of(event) == Some(association)) {
            closed |= matches!(event, Event::Closed { .. });
            self.metrics.count(&event);
            entry.moves.count(self.now, &event, self.metrics);
            delivery.event(event);
        }
        if delivery.is_all_acknowledged() {
            entry.moves.idle();
        }
        let (bytes, urgent) = delivery.finish();
        self.witness.look(self.now, association);
        if closed {
            self.registry.remove(association);
        } else if bytes > 0 {
            self.releases.push(Command::Release { association, bytes });
            self.registry.urgent |= urgent;
        }
    }

    fn up(&mut self, id: AssociationId, token: Option<ConnectToken>, outbound_streams: u16, setup: Setup) {
        let local_port = setup.local_port;
        let mailbox =
            Arc::new(Mailbox::new(id, outbound_streams, setup, Arc::clone(&self.shared.send_memory)));
        self.registry.insert(mailbox.clone());
        self.witness.opened(&mailbox);
        let Some(client) = self.client.upgrade() else { return self.turn_away(id, "nobody is here") };
        let association = Association::new(client, mailbox);
        match token {
            Some(token) => match self.inbox.take_connecting(token) {
                // If the caller gave up this very moment, dropping the association shuts it down.
                Some(reply) => {
                    let _ = reply.send(Ok(association));
                }
                None => self.turn_away(id, "cancelled"),
            },
            None => {
                let queue = self.shared.listeners().get(&local_port).cloned();
                if queue.is_none_or(|queue| queue.push(association).is_err()) {
                    self.turn_away(id, "nobody accepts associations here");
                }
            }
        }
    }

    /// Aborts an association that nobody wants; its handle, if there was one, is dropped.
    fn turn_away(&mut self, association: AssociationId, reason: &'static str) {
        self.commands
            .push_back(Command::Abort { association, reason: Bytes::from_static(reason.as_bytes()) });
        self.registry.urgent = true;
    }
}

fn association_of(event: &Event) -> Option<AssociationId> {
    match event {
        Event::Message { association, .. }
        | Event::Sent { association, .. }
        | Event::SendRefused { association, .. }
        | Event::Path { association, .. }
        | Event::PathInUse { association, .. }
        | Event::PathQuality { association, .. }
        | Event::PathEstimates { association, .. }
        | Event::PathGone { association, .. }
        | Event::AddressChanged { association, .. }
        | Event::PeerAddress { association, .. }
        | Event::MobilityChanged { association, .. }
        | Event::Restarted { association, .. }
        | Event::PeerShutdown { association }
        | Event::PeerError { association, .. }
        | Event::Closed { association, .. } => Some(*association),
        Event::AuthKey { association, .. } => *association,
        // These make and break what the others go to.
        Event::Up { .. } | Event::ConnectFailed { .. } => None,
    }
}
