use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Ecn, Input, Instant, LinkFact, Machine, Route, Seed, Sink, Transmit, Unreachable};
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationId, CloseReason, Command, Config, ConnectToken, Event, Message, PathView, PmtuSearch, StreamId,
};
use whimbrel_wire::{Chunk, Data, Packet};

/// SCTP port the node listens on.
pub const NODE_PORT: u16 = 5001;
/// SCTP port of the peer.
pub const PEER_PORT: u16 = 7000;
/// UDP encapsulation port of both.
pub const UDP: u16 = 9899;

/// An address as it is written.
pub fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The RFC's defaults without path MTU probes, which would show up between the packets that tests look at.
pub fn quiet() -> Config {
    let mut config = Config::rfc();
    config.pmtu.search = PmtuSearch::Off;
    config
}

/// The node's address number `n`.
pub fn node_address(n: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, n, 1).into(), UDP)
}

/// The peer's address number `n`.
pub fn peer_address(n: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, n, 2).into(), UDP)
}

/// The way between the first addresses, as the node sees it.
pub fn route() -> Route {
    Route { local: node_address(1), remote: peer_address(1) }
}

/// A packet the node has sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When.
    pub at: Instant,
    /// Where to, and from which address.
    pub route: Route,
    /// From the common header on.
    pub bytes: Vec<u8>,
}

impl Sent {
    /// Parsed.
    pub fn packet(&self) -> Packet<'_> {
        Packet::parse(&self.bytes).unwrap()
    }

    /// The Verification Tag.
    pub fn tag(&self) -> u32 {
        self.packet().header().verification_tag
    }

    /// All of them.
    pub fn chunks(&self) -> Vec<Chunk<'_>> {
        self.packet().chunks().map(|chunk| chunk.expect("the node writes well-formed chunks")).collect()
    }

    /// The only chunk.
    #[track_caller]
    pub fn only(&self) -> Chunk<'_> {
        let chunks = self.chunks();
        assert_eq!(chunks.len(), 1, "{chunks:?}");
        chunks[0]
    }

    /// What is in the HEARTBEAT chunks.
    pub fn heartbeats(&self) -> Vec<&[u8]> {
        let info = |chunk| if let Chunk::Heartbeat(heartbeat) = chunk { Some(heartbeat.info) } else { None };
        self.chunks().into_iter().filter_map(info).collect()
    }

    /// The DATA chunks.
    pub fn data(&self) -> Vec<Data<'_>> {
        let data = |chunk| if let Chunk::Data(data) = chunk { Some(data) } else { None };
        self.chunks().into_iter().filter_map(data).collect()
    }
}

struct Recorder<'a> {
    at: Instant,
    sent: &'a mut Vec<Sent>,
    events: &'a mut Vec<Event>,
    association: &'a mut Option<AssociationId>,
}

impl Sink<Event> for Recorder<'_> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        for bytes in bytes.chunks(transmit.segment) {
            let packet = Packet::parse(bytes).expect("the node writes whole packets");
            assert!(packet.checksum_is_valid());
            self.sent.push(Sent { at: self.at, route: transmit.route, bytes: bytes.to_vec() });
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::Up { association, .. } = event {
            *self.association = Some(association);
        }
        self.events.push(event);
    }
}

/// A node, its clock, and everything it has said that was not taken yet.
pub struct Bench {
    /// The node.
    pub node: Node,
    /// Its clock.
    pub now: Instant,
    /// What it has told its user.
    pub events: Vec<Event>,
    sent: Vec<Sent>,
    deadline: Option<Instant>,
    association: Option<AssociationId>,
}

impl Bench {
    /// A node with `addresses` addresses that listens on [`NODE_PORT`].
    pub fn with_addresses(config: Config, addresses: u8) -> Self {
        Self::with_locals(config, (1..=addresses).map(node_address).collect())
    }

    /// A node with these addresses that listens on [`NODE_PORT`].
    pub fn with_locals(config: Config, locals: Vec<SocketAddr>) -> Self {
        Self::seeded(Seed::from_u64(1), config, locals)
    }

    /// The same, with a randomness of its own.
    pub fn seeded(seed: Seed, config: Config, locals: Vec<SocketAddr>) -> Self {
        config.validate().unwrap();
        let node = Node::new(Arc::new(config), seed, locals);
        let now = Instant::from_nanos(1_000_000_000);
        let mut bench =
            Self { node, now, events: Vec::new(), sent: Vec::new(), deadline: None, association: None };
        bench.command(Command::Listen { port: NODE_PORT });
        bench
    }

    /// A node with one address that listens on [`NODE_PORT`].
    pub fn new(config: Config) -> Self {
        Self::with_addresses(config, 1)
    }

    /// One step at the present time, and those that are due at once because of it.
    pub fn step(&mut self, mut inputs: Vec<Input<'_, Command>>) {
        for _ in 0..100 {
            let mut recorder = Recorder {
                at: self.now,
                sent: &mut self.sent,
                events: &mut self.events,
                association: &mut self.association,
            };
            self.deadline = self.node.step(self.now, inputs, &mut recorder);
            if self.deadline.is_none_or(|at| at > self.now) {
                return;
            }
            // A timer that was set for this very moment.
            inputs = vec![Input::Timeout];
        }
        panic!("the node asks to be called again at once, for ever");
    }

    /// A packet arrives on `route` (as the node sees it).
    pub fn deliver_on(&mut self, route: Route, bytes: &[u8]) {
        self.step(vec![Input::Datagrams { route, ecn: Ecn::NotCapable, bytes, segment: bytes.len() }]);
    }

    /// A packet arrives on the first route.
    pub fn deliver(&mut self, bytes: &[u8]) {
        self.deliver_on(route(), bytes);
    }

    /// A packet arrives on the first route; what the node sends because of it.
    pub fn ask(&mut self, bytes: &[u8]) -> Vec<Sent> {
        self.take();
        self.deliver(bytes);
        self.take()
    }

    /// An ICMP message about a packet on `route` arrives.
    pub fn unreachable(&mut self, route: Route, reason: Unreachable, quoted: &[u8]) {
        self.step(vec![Input::Unreachable { route, reason, quoted }]);
    }

    /// A fact about the node's links.
    pub fn link(&mut self, fact: LinkFact) {
        self.links(&[fact]);
    }

    /// Facts about the node's links, seen all at once.
    pub fn links(&mut self, facts: &[LinkFact]) {
        let mut links = self.node.links();
        facts.iter().for_each(|fact| links.apply(fact));
        self.step(vec![Input::Links(&links)]);
    }

    /// The user gives a command.
    pub fn command(&mut self, command: Command) {
        self.step(vec![Input::Command(command)]);
    }

    /// The user connects to the peer at these addresses.
    pub fn connect(&mut self, remotes: &[SocketAddr]) {
        self.command(Command::Connect {
            token: ConnectToken(1),
            remote: remotes.to_vec(),
            remote_port: PEER_PORT,
            local_port: Some(NODE_PORT),
        });
    }

    /// The user sends a message.
    pub fn send(&mut self, stream: u16, payload: &[u8]) {
        let association = self.association();
        let message = Message::new(StreamId(stream), payload.to_vec());
        self.command(Command::Send { association, message });
    }

    /// The user closes the association.
    pub fn shutdown(&mut self) {
        let association = self.association();
        self.command(Command::Shutdown { association });
    }

    /// Lets time pass, keeping every deadline on the way.
    pub fn pass(&mut self, duration: Duration) {
        let end = self.now + duration;
        let mut steps = 0;
        while let Some(at) = self.deadline.filter(|&at| at <= end) {
            self.now = at;
            self.step(vec![Input::Timeout]);
            steps += 1;
            assert!(steps < 100_000, "too many deadlines, last at {at:?}");
        }
        self.now = end;
    }

    /// Lets time pass up to the next deadline; false if there is none.
    pub fn pass_to_deadline(&mut self) -> bool {
        let Some(at) = self.deadline else { return false };
        self.now = at;
        self.step(vec![Input::Timeout]);
        true
    }

    /// When the node wants to be called again.
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// What the node has sent since the last call.
    pub fn take(&mut self) -> Vec<Sent> {
        core::mem::take(&mut self.sent)
    }

    /// The only packet sent since the last call.
    #[track_caller]
    pub fn take_only(&mut self) -> Sent {
        let sent = self.take();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.into_iter().next().unwrap()
    }

    /// The association that came up last.
    #[track_caller]
    pub fn association(&self) -> AssociationId {
        self.association.expect("no association has come up")
    }

    /// The paths of the association that came up last.
    pub fn paths(&self) -> Vec<PathView> {
        self.node.paths(self.association())
    }

    /// How many associations have come up.
    pub fn ups(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Up { .. })).count()
    }

    /// How often the peer has restarted one.
    pub fn restarts(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Restarted { .. })).count()
    }

    /// How many messages were refused for want of room, or otherwise.
    pub fn refused(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::SendRefused { .. })).count()
    }

    /// Why the association has ended, if it has.
    pub fn closed(&self) -> Option<CloseReason> {
        self.events.iter().find_map(|event| match event {
            Event::Closed { reason, .. } | Event::ConnectFailed { reason, .. } => Some(reason.clone()),
            _ => None,
        })
    }

    /// Payloads delivered to the user.
    pub fn received(&self) -> Vec<Vec<u8>> {
        let payload = |event: &Event| match event {
            Event::Message { received, .. } => Some(received.payload.to_vec()),
            _ => None,
        };
        self.events.iter().filter_map(payload).collect()
    }
}
