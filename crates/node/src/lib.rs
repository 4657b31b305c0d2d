//! One host's SCTP as a machine: an [`Endpoint`] behind the one `step` verb that every driver uses.
#![forbid(unsafe_code)]

use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_machine::{Input, Instant, Machine, Seed, Sink};
use whimbrel_proto::{
    AssociationId, AssociationStats, Command, Config, Endpoint, EndpointStats, Event, PathView,
};

/// Packets in a train at most: what Linux takes in one GSO send.
const MAX_SEGMENTS: usize = 64;

/// A host's SCTP endpoint, driven by [`Machine::step`].
#[derive(Debug)]
pub struct Node {
    endpoint: Endpoint,
    buffer: Vec<u8>,
}

impl Node {
    /// A node with these local addresses (ports are UDP encapsulation ports, 0 for raw IP).
    pub fn new(config: Arc<Config>, seed: Seed, local: Vec<SocketAddr>) -> Self {
        Self { endpoint: Endpoint::new(config, seed, local), buffer: Vec::new() }
    }

    /// The paths of an association; empty if it is unknown or not established.
    pub fn paths(&self, association: AssociationId) -> Vec<PathView> {
        self.endpoint.paths(association)
    }

    /// Totals of an association.
    pub fn stats(&self, association: AssociationId) -> Option<AssociationStats> {
        self.endpoint.association_stats(association)
    }

    /// Totals of the endpoint.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.endpoint.stats()
    }

    /// How many associations exist, in any state.
    pub fn association_count(&self) -> usize {
        self.endpoint.association_count()
    }

    fn apply(&mut self, now: Instant, input: Input<'_, Command>) {
        match input {
            Input::Datagrams { route, ecn, bytes, segment } => {
                self.endpoint.handle_datagrams(now, route, ecn, bytes, segment);
            }
            Input::Unreachable { route, reason, quoted } => {
                self.endpoint.handle_unreachable(now, route, reason, quoted);
            }
            Input::Timeout => {}
            Input::Link(fact) => self.endpoint.handle_link(now, fact),
            Input::Command(command) => self.endpoint.handle_command(now, command),
        }
    }
}

impl Machine for Node {
    type Command = Command;
    type Event = Event;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, Command>>,
        sink: &mut impl Sink<Event>,
    ) -> Option<Instant> {
        for input in inputs {
            self.apply(now, input);
        }
        self.endpoint.handle_timeout(now);
        loop {
            self.buffer.clear();
            let Some(transmit) = self.endpoint.poll_transmit(now, MAX_SEGMENTS, &mut self.buffer) else {
                break;
            };
            sink.transmit(&transmit, &self.buffer);
        }
        while let Some(event) = self.endpoint.poll_event() {
            sink.event(event);
        }
        self.endpoint.next_deadline()
    }
}
