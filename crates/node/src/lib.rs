//! One host's SCTP as a machine: an [`Endpoint`] behind the one `step` verb that every driver uses, and for hosts that move a
//! handover policy for each association.
#![forbid(unsafe_code)]

mod asking;
mod mover;
mod movers;
mod tracing;

use core::net::SocketAddr;
use std::sync::Arc;

pub use movers::Decided;
use movers::{Movers, NewPolicy};
use tracing::{Detail, Tracing};
use whimbrel_handover::Policy;
use whimbrel_machine::{Input, Instant, LinkFact, Links, Machine, Seed, Sink};
use whimbrel_proto::{
    AssociationId, AssociationState, AssociationStats, Command, Config, Endpoint, EndpointStats, Event,
    HandOver, PathView, Shard, Totals,
};

/// Packets in a train at most: what Linux takes in one GSO send.
const MAX_SEGMENTS: usize = 64;

/// A host's SCTP endpoint, driven by [`Machine::step`].
#[derive(Debug)]
pub struct Node {
    endpoint: Endpoint,
    links: Links,
    /// `None` without a policy: then links are followed as far as the endpoint does by itself.
    movers: Option<Movers>,
    tracing: Tracing,
    buffer: Vec<u8>,
}

impl Node {
    /// A node with these local addresses (ports are UDP encapsulation ports, 0 for raw IP).
    pub fn new(config: Arc<Config>, seed: Seed, local: Vec<SocketAddr>) -> Self {
        let links = Links::new(&local);
        Self::of(Endpoint::new(config, seed, local), links)
    }

    /// As [`Self::new`], one shard of several that are one endpoint to others; see [`Shard`].
    pub fn shard(config: Arc<Config>, seed: Seed, local: Vec<SocketAddr>, shard: Shard) -> Self {
        let links = Links::new(&local);
        Self::of(Endpoint::shard(config, seed, local, shard), links)
    }

    fn of(endpoint: Endpoint, links: Links) -> Self {
        Self { endpoint, links, movers: None, tracing: Tracing::default(), buffer: Vec::new() }
    }

    /// Has records tell of what is sent, received and sent again, too, and of the pace.
    #[must_use]
    pub fn recording_traffic(mut self) -> Self {
        self.tracing = Tracing::of(Detail::Traffic);
        self
    }

    /// Has each association that comes up from now on watched by a policy of its own, which `new_policy` makes.
    #[must_use]
    pub fn with_policy(mut self, new_policy: impl Fn() -> Box<dyn Policy> + Send + 'static) -> Self {
        self.movers = Some(Movers::new(NewPolicy(Box::new(new_policy))));
        self
    }

    /// What policies have decided lately and [`Self::take_decisions`] has not taken, the oldest first; at most 256.
    pub fn decisions(&self) -> impl Iterator<Item = &Decided> {
        self.movers.iter().flat_map(|movers| movers.decisions())
    }

    /// Takes what [`Self::decisions`] shows, for a driver to tell the user after each step.
    pub fn take_decisions(&mut self) -> impl Iterator<Item = Decided> + '_ {
        self.movers.iter_mut().flat_map(Movers::decided)
    }

    /// What another shard has handed over to this one. To be followed by a step, which sends the answers.
    pub fn handle_hand_over(&mut self, now: Instant, hand_over: &HandOver) {
        self.endpoint.handle_hand_over(now, hand_over);
    }

    /// What belongs to another shard, for a driver to take after each step.
    pub fn poll_hand_over(&mut self) -> Option<HandOver> {
        self.endpoint.poll_hand_over()
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

    /// What all associations have done together, those that are gone included. It looks at every association.
    pub fn totals(&self) -> Totals {
        self.endpoint.totals()
    }

    /// The associations there are, and their states.
    pub fn associations(&self) -> impl Iterator<Item = (AssociationId, AssociationState)> + '_ {
        self.endpoint.associations()
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
                movers.handle_event(now, &event, &self.links, &mut self.endpoint);
                seen = true;
            }
            sink.event(event);
        }
        seen
    }

    /// Tells the endpoint what has become of addresses and of translators, which is all of the links that matters to it; then the policies of
    /// everything that has changed. What comes is told before what goes, so that nobody is without in between.
    fn follow(&mut self, now: Instant, links: &Links) {
        let usable = |links: &Links| links.usable().map(|(address, _)| address).collect::<Vec<_>>();
        let before = usable(&self.links);
        let translated = self.links.nat64().collect::<Vec<_>>();
        let changes = self.links.follow(links);
        if !self.links.nat64().eq(translated) {
            self.endpoint.set_nat64(now, self.links.nat64());
        }
        let after = usable(&self.links);
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for change in &changes {
            match *change {
                LinkFact::AddressUp(address) => up.push(address),
                LinkFact::AddressDown(address) => down.push(address),
                LinkFact::AddressOn { .. } | LinkFact::Interface { .. } => {}
            }
        }
        // Addresses come and go with their interfaces, too.
        add_missing(&mut up, &after, &before);
        add_missing(&mut down, &before, &after);
        for address in up {
            self.endpoint.address_up(now, address);
        }
        for address in down {
            self.endpoint.address_down(now, address);
        }
        if let Some(movers) = &mut self.movers {
            for change in changes {
                movers.handle_link(now, change, &self.links, &mut self.endpoint);
            }
        }
    }

    fn apply(&mut self, now: Instant, input: Input<'_, Command>) {
        match input {
            // ECN is not in use.
            Input::Datagrams { route, bytes, segment, .. } => {
                self.endpoint.handle_datagrams(now, route, bytes, segment);
            }
            Input::Unreachable { route, reason, quoted } => {
                self.endpoint.handle_unreachable(now, route, reason, quoted);
            }
            Input::Timeout => {}
            Input::Links(links) => self.follow(now, links),
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
            movers.handle_timeout(now, &self.links, &mut self.endpoint);
        }
        // What a policy decides because of an event may cause packets and further events. It ends, since policies are bounded in
        // what they do at one moment.
        while self.drain(now, sink) {}
        if sink.traces() {
            self.tracing.tell(&self.endpoint, sink);
        }
        let policies = self.movers.as_ref().and_then(Movers::next_deadline);
        [self.endpoint.next_deadline(), policies].into_iter().flatten().min()
    }

    fn links(&self) -> Links {
        self.links.clone()
    }
}

/// Adds those of `here` that are not there, as far as the list does not have them.
fn add_missing(list: &mut Vec<SocketAddr>, here: &[SocketAddr], there: &[SocketAddr]) {
    for &address in here {
        if list.iter().chain(there).all(|other| other.ip() != address.ip()) {
            list.push(address);
        }
    }
}
