//! Two hosts with real endpoints in the network in virtual time, and an app that writes down what it is told.

pub(crate) mod auth_peer;
pub(crate) mod bulk;
pub(crate) mod crowd;
pub(crate) mod wire_peer;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Action, App, Change, Context, HostId, InFlight, LinkConfig, LinkId, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationId, Command, Config, ConnectToken, Event, Message, PathState, Received, StreamId,
};

pub(crate) const SCTP_PORT: u16 = 5001;
pub(crate) const UDP_PORT: u16 = 9899;

/// What a host's user does.
#[derive(Debug, Default)]
pub(crate) struct User {
    pub listen: bool,
    pub connect: Option<Vec<SocketAddr>>,
    /// Sent as soon as the association is up, as fast as the send buffer lets them go.
    pub outbox: std::collections::VecDeque<Message>,
    /// Sent as well, one by one at this interval: how many are left, and how many bytes each has.
    pub ticks: Option<Ticks>,
    /// Shut down once everything is acknowledged.
    pub shutdown_when_done: bool,
    /// Keep received data instead of releasing it.
    pub hold: bool,
    /// Release received data without writing it down.
    pub discard: bool,
    pub association: Option<AssociationId>,
    pub events: Vec<(Instant, Event)>,
    pub received: Vec<(Instant, Received)>,
    /// Bytes not acknowledged yet. Whoever sends past the outbox adds to it.
    pub queued: usize,
    pub limit: usize,
}

/// A source of constant bit rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub interval: Duration,
    pub bytes: usize,
    pub left: usize,
}

impl User {
    pub(crate) fn server() -> Self {
        Self { listen: true, limit: 256 * 1024, ..Self::default() }
    }

    pub(crate) fn client(remote: &[SocketAddr]) -> Self {
        Self { connect: Some(remote.to_vec()), limit: 256 * 1024, ..Self::default() }
    }

    fn tick(&mut self, context: &mut Context<'_, Command>) {
        let (Some(ticks), Some(association)) = (&mut self.ticks, self.association) else { return };
        if ticks.left > 0 {
            ticks.left -= 1;
            let message = message(0, ticks.left, ticks.bytes);
            self.queued += message.payload.len();
            context.command(Command::Send { association, message });
            context.wake_at(context.now() + ticks.interval, 0);
        }
    }

    fn pump(&mut self, context: &mut Context<'_, Command>) {
        let Some(association) = self.association else { return };
        while let Some(next) = self.outbox.front() {
            if self.queued > 0 && self.queued + next.payload.len() > self.limit {
                return;
            }
            let message = self.outbox.pop_front().unwrap();
            self.queued += message.payload.len();
            context.command(Command::Send { association, message });
        }
        if self.shutdown_when_done && self.queued == 0 {
            self.shutdown_when_done = false;
            context.command(Command::Shutdown { association });
        }
    }

    pub(crate) fn closed(&self) -> bool {
        self.events.iter().any(|(_, event)| matches!(event, Event::Closed { .. }))
    }

    pub(crate) fn path_states(&self) -> Vec<(Instant, PathState)> {
        self.events
            .iter()
            .filter_map(|(at, event)| match event {
                Event::Path { state, .. } => Some((*at, *state)),
                _ => None,
            })
            .collect()
    }
}

impl App<Node> for User {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        if self.listen {
            context.command(Command::Listen { port: SCTP_PORT });
        }
        if let Some(remote) = self.connect.clone() {
            let token = ConnectToken(1);
            context.command(Command::Connect { token, remote, remote_port: SCTP_PORT, local_port: None });
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, Command>) {
        self.tick(context);
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        match &event {
            Event::Up { association, .. } => {
                self.association = Some(*association);
                self.tick(context);
            }
            Event::Message { association, received } => {
                if !self.discard {
                    self.received.push((context.now(), received.clone()));
                }
                if !self.hold {
                    let bytes = received.payload.len();
                    context.command(Command::Release { association: *association, bytes });
                }
                return;
            }
            Event::Sent { bytes, .. } => self.queued -= bytes,
            Event::SendRefused { error, .. } => panic!("message refused: {error}"),
            _ => {}
        }
        self.events.push((context.now(), event));
        self.pump(context);
    }
}

/// Two hosts joined by `links` separate networks.
pub(crate) struct Pair {
    pub world: World<Node, User>,
    pub client: HostId,
    pub server: HostId,
    pub links: Vec<LinkId>,
}

/// Address of host `host` (1 client, 2 server) in network `network`.
pub(crate) fn address(network: u8, host: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, network, host)), UDP_PORT)
}

impl Pair {
    pub(crate) fn new(seed: u64, config: Config, links: &[LinkConfig], client: User, server: User) -> Self {
        Self::with_nodes(seed, config, links, client, server, |_, node| node)
    }

    /// As [`Self::new`]; `finish` makes the node of host 1 (client) and 2 (server) what it is to be.
    pub(crate) fn with_nodes(
        seed: u64,
        config: Config,
        links: &[LinkConfig],
        client: User,
        server: User,
        finish: impl Fn(u8, Node) -> Node,
    ) -> Self {
        Self::build(seed, [config.clone(), config], links, client, server, finish)
    }

    /// Hosts that are configured differently: first the client, then the server.
    pub(crate) fn with_configs(
        seed: u64,
        configs: [Config; 2],
        links: &[LinkConfig],
        client: User,
        server: User,
    ) -> Self {
        Self::build(seed, configs, links, client, server, |_, node| node)
    }

    fn build(
        seed: u64,
        configs: [Config; 2],
        links: &[LinkConfig],
        client: User,
        server: User,
        finish: impl Fn(u8, Node) -> Node,
    ) -> Self {
        configs.iter().for_each(|config| config.validate().unwrap());
        let configs = configs.map(Arc::new);
        let mut world = World::new(Seed::from_u64(seed));
        let networks = 1..=links.len() as u8;
        let addresses = |host: u8| networks.clone().map(|network| address(network, host)).collect::<Vec<_>>();
        let node = |host: u8, world: &World<Node, User>| {
            let seed = world.seed().child("host", host.into());
            let config = Arc::clone(&configs[usize::from(host) - 1]);
            finish(host, Node::new(config, seed, addresses(host)))
        };
        let (client_node, server_node) = (node(1, &world), node(2, &world));
        let server = world.add_host("server", server_node, server);
        let client = world.add_host("client", client_node, client);
        let links = links
            .iter()
            .zip(networks.clone())
            .map(|(link, network)| {
                let a = world.add_interface(client, [address(network, 1).ip()]);
                let b = world.add_interface(server, [address(network, 2).ip()]);
                world.add_link(a, b, *link, *link)
            })
            .collect();
        Self { world, client, server, links }
    }

    /// Cuts link `index` both ways at `at`.
    pub(crate) fn cut(&mut self, index: usize, at: Instant) {
        let down = Change::Down(InFlight::Lost);
        self.world.schedule(at, Action::Link(self.links[index], Side::Both, down));
    }

    pub(crate) fn heal(&mut self, index: usize, at: Instant) {
        self.world.schedule(at, Action::Link(self.links[index], Side::Both, Change::Up));
    }

    pub(crate) fn run(&mut self, seconds: u64) {
        self.world.run_until(Instant::from_nanos(seconds * 1_000_000_000));
    }

    /// From `at` on a packet takes `milliseconds` through the network, either way.
    pub(crate) fn delay(&mut self, network: usize, at: Instant, milliseconds: u64) {
        let change = Change::Delay(Duration::from_millis(milliseconds));
        self.world.schedule(at, Action::Link(self.links[network], Side::Both, change));
    }

    /// The longest time from `from` on between two records at the server.
    pub(crate) fn longest_gap(&self, from: Instant) -> Duration {
        let arrivals = self.server().received.iter().map(|(at, _)| *at).filter(|at| *at >= from);
        let arrivals: Vec<Instant> = arrivals.collect();
        arrivals.windows(2).map(|two| two[1].saturating_since(two[0])).max().unwrap_or_default()
    }

    /// When the client was told that new data goes another way than before, once the association is up.
    pub(crate) fn moves(&self) -> Vec<Instant> {
        let events = self.client().events.iter();
        events.filter(|(_, event)| matches!(event, Event::PathInUse { .. })).map(|(at, _)| *at).collect()
    }

    pub(crate) fn client(&self) -> &User {
        self.world.app(self.client)
    }

    pub(crate) fn server(&self) -> &User {
        self.world.app(self.server)
    }
}

pub(crate) fn remotes(networks: u8) -> Vec<SocketAddr> {
    (1..=networks).map(|network| address(network, 2)).collect()
}

pub(crate) fn link(mbit: u64, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        rate_bps: Some(mbit * 1_000_000),
        delay: Duration::from_millis(delay_ms),
        ..LinkConfig::default()
    }
}

/// Message number `n` of `bytes` bytes: content that tells which it is.
pub(crate) fn message(stream: u16, n: usize, bytes: usize) -> Message {
    let payload: Vec<u8> = (0..bytes).map(|i| (n.wrapping_mul(131) + i.wrapping_mul(7)) as u8).collect();
    Message::new(StreamId(stream), payload)
}

/// A capture or a trace kept in memory.
#[derive(Clone, Default)]
pub(crate) struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// What was written, if it is text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The chunk types of every SCTP packet captured, in order.
    pub(crate) fn sctp_packets(&self) -> Vec<Vec<u8>> {
        let bytes = self.0.lock().unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (mut at, mut packets) = (0, Vec::new());
        while at + 12 <= bytes.len() {
            let (kind, len) = (word(at), word(at + 4));
            if kind == 6 {
                let (start, captured) = (at + 28, word(at + 20));
                // IPv4 and UDP headers come before the SCTP packet.
                let packet = whimbrel_wire::Packet::parse(&bytes[start + 28..start + captured]).unwrap();
                packets.push(packet.chunks().map(|chunk| chunk.unwrap().chunk_type()).collect());
            }
            at += len;
        }
        packets
    }
}
