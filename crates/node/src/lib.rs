//! One host's SCTP as a machine: an [`Endpoint`] behind the one `step` verb that every driver uses, and for hosts that move a
//! handover policy for each association.
#![forbid(unsafe_code)]

mod asking;
mod mover;
mod movers;

use core::net::SocketAddr;
use std::sync::Arc;

pub use movers::Decided;
use movers::{Movers, NewPolicy, tell_endpoint};
use whimbrel_handover::{Interface, Interfaces, Policy};
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
    interfaces: Interfaces,
    /// `None` without a policy: then links are followed as far as the endpoint does by itself.
    movers: Option<Movers>,
    buffer: Vec<u8>,
}

impl Node {
    /// A node with these local addresses (ports are UDP encapsulation ports, 0 for raw IP).
    pub fn new(config: Arc<Config>, seed: Seed, local: Vec<SocketAddr>) -> Self {
        let interfaces = Interfaces::new(&local);
        Self { endpoint: Endpoint::new(config, seed, local), interfaces, movers: None, buffer: Vec::new() }
    }

    /// Has each association that comes up from now on watched by a policy of its own, which `new_policy` makes.
    #[must_use]
    pub fn with_policy(mut self, new_policy: impl Fn() -> Box<dyn Policy> + Send + 'static) -> Self {
        self.movers = Some(Movers::new(NewPolicy(Box::new(new_policy))));
        self
    }

    /// What is known about this host's interfaces.
    pub fn interfaces(&self) -> &[Interface] {
        self.interfaces.list()
    }

    /// What policies have decided lately and [`Self::take_decisions`] has not taken, the oldest first; at most 256.
    pub fn decisions(&self) -> impl Iterator<Item = &Decided> {
        self.movers.iter().flat_map(|movers| movers.decisions())
    }

    /// Takes what [`Self::decisions`] shows, for a driver to tell the user after each step.
    pub fn take_decisions(&mut self) -> impl Iterator<Item = Decided> + '_ {
        self.movers.iter_mut().flat_map(Movers::decided)
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

    /// Sends all there is to send and tells all there is to tell; true if some policy has seen an event, and may have asked for more.
    fn drain(&mut self, now: Instant, sink: &mut impl Sink<Event>) -> bool {
        loop {
            self.buffer.clear();
            let Some(transmit) = self.endpoint.poll_transmit(now, MAX_SEGMENTS, &mut self.buffer) else {
                break;
            };
            sink.transmit(&transmit, &self.buffer);
        }
        let mut seen = false;
        while let Some(event) = self.endpoint.poll_event() {
            if let Some(movers) = &mut self.movers {
                movers.handle_event(now, &event, &self.interfaces, &mut self.endpoint);
                seen = true;
            }
            sink.event(event);
        }
        seen
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
            Input::Link(fact) => {
                tell_endpoint(now, fact, &mut self.interfaces, &mut self.endpoint);
                if let Some(movers) = &mut self.movers {
                    movers.handle_link(now, fact, &self.interfaces, &mut self.endpoint);
                }
            }
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
        if let Some(movers) = &mut self.movers {
            movers.handle_timeout(now, &self.interfaces, &mut self.endpoint);
        }
        // What a policy decides because of an event may cause packets and further events. It ends, since policies are bounded in
        // what they do at one moment.
        while self.drain(now, sink) {}
        let policies = self.movers.as_ref().and_then(Movers::next_deadline);
        [self.endpoint.next_deadline(), policies].into_iter().flatten().min()
    }
}
