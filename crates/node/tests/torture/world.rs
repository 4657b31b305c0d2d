//! A mobile host with two networks or one, and a server with two addresses, as the script of the torture table has them.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::{Pace, Policy, Seamless};
use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Seed};
use whimbrel_netsim::{Action, Change, HostId, InFlight, LinkId, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{Config, Event};

use crate::common::{Ticks, User, link};

const UDP: u16 = 9899;

/// When a row's trouble begins.
pub(super) const TROUBLE: Duration = Duration::from_secs(8);

/// Which way packets go: from the mobile host, to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Up,
    Down,
}

/// The mobile host's networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Network {
    Wifi = 1,
    Lte = 2,
}

/// What a row begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub networks: u8,
    pub record: usize,
    pub interval: Duration,
    /// Which way records go.
    pub way: Way,
}

/// A row's hosts and what is to happen to them.
pub(super) struct Torture {
    world: World<Node, User>,
    mobile: HostId,
    server: HostId,
    links: Vec<LinkId>,
    start: Start,
}

/// What became of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The association that began is there at the end, and everything has arrived.
    pub survived: bool,
    /// The longest time without a record.
    pub gap: Duration,
    /// The most that a record came later than it was due.
    pub behind: Duration,
    /// From the end of the trouble to the next record.
    pub recovery: Duration,
    /// How often new data went another way.
    pub moves: usize,
}

fn mobile(network: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::from([10, 61, network, 2]), UDP)
}

fn server(core: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::from([10, 62, core, 2]), UDP)
}

fn seamless() -> Box<dyn Policy> {
    Box::new(Seamless::policy(Pace::MOBILE))
}

impl Torture {
    pub(super) fn new(seed: u64, config: &Config, start: Start) -> Self {
        let config = Arc::new(config.clone());
        config.validate().unwrap();
        let mut world = World::new(Seed::from_u64(seed));
        let node = |world: &World<Node, User>, n, locals| {
            Node::new(Arc::clone(&config), world.seed().child("host", n), locals).with_policy(seamless)
        };
        let networks = 1..=start.networks;
        let at_mobile = node(&world, 1, networks.clone().map(mobile).collect());
        let at_server = node(&world, 2, vec![server(1), server(2)]);
        let (mut client_user, mut server_user) = (User::client(&[server(1), server(2)]), User::server());
        let sender = if start.way == Way::Up { &mut client_user } else { &mut server_user };
        // Ended by `run`.
        sender.ticks = Some(Ticks { interval: start.interval, bytes: start.record, left: usize::MAX >> 1 });
        let server_host = world.add_host("server", at_server, server_user);
        let mobile_host = world.add_host("mobile", at_mobile, client_user);
        let router = world.add_router();
        for core in [1, 2] {
            let interface = world.add_interface(server_host, [server(core).ip()]);
            world.add_link(router, interface, link(1000, 0), link(1000, 0));
        }
        let mut links = Vec::new();
        for (network, config) in networks.zip([link(20, 10), link(10, 30)]) {
            let interface = world.add_interface(mobile_host, [mobile(network).ip()]);
            links.push(world.add_link(interface, router, config, config));
        }
        let mut torture = Self { world, mobile: mobile_host, server: server_host, links, start };
        for network in [Network::Wifi, Network::Lte].into_iter().take(usize::from(start.networks)) {
            torture.attached(Duration::ZERO, network);
        }
        torture
    }

    fn fact(&mut self, after: Duration, fact: LinkFact) {
        self.world.schedule(Instant::ZERO + after, Action::Fact(self.mobile, fact));
    }

    fn attached(&mut self, after: Duration, network: Network) {
        let interface = InterfaceId(network as u32);
        let kind =
            if network == Network::Wifi { InterfaceKind::WirelessLan } else { InterfaceKind::Cellular };
        self.fact(after, LinkFact::AddressOn { interface, address: mobile(network as u8).ip() });
        self.fact(after, LinkFact::Interface { interface, fact: InterfaceFact::Up(kind) });
    }

    /// The network changes both ways, some time after the trouble's beginning.
    pub(super) fn change(&mut self, after: Duration, network: Network, change: Change) {
        self.change_way(after, network, Side::Both, change);
    }

    /// It changes in one direction only.
    pub(super) fn change_one(&mut self, after: Duration, network: Network, way: Way, change: Change) {
        self.change_way(after, network, if way == Way::Up { Side::AtoB } else { Side::BtoA }, change);
    }

    fn change_way(&mut self, after: Duration, network: Network, side: Side, change: Change) {
        let link = self.links[network as usize - 1];
        self.world.schedule(Instant::ZERO + TROUBLE + after, Action::Link(link, side, change));
    }

    /// Nothing passes the network for some time; nobody tells.
    pub(super) fn silence(&mut self, after: Duration, network: Network, lasts: Duration) {
        self.change(after, network, Change::Down(InFlight::Lost));
        self.change(after + lasts, network, Change::Up);
    }

    /// The mobile host loses its address there for some time, and is told.
    pub(super) fn unplug(&mut self, after: Duration, network: Network, lasts: Duration) {
        self.silence(after, network, lasts);
        self.fact(TROUBLE + after, LinkFact::AddressDown(mobile(network as u8)));
        let back = TROUBLE + after + lasts;
        self.attached(back, network);
        self.fact(back, LinkFact::AddressUp(mobile(network as u8)));
    }

    pub(super) fn networks(&self) -> &'static [Network] {
        &[Network::Wifi, Network::Lte][..usize::from(self.start.networks)]
    }

    fn user(&mut self, way: Way) -> &mut User {
        let host = if way == Way::Up { self.mobile } else { self.server };
        self.world.app_mut(host)
    }

    /// Lets the row happen. The trouble is over `back` after it began; records go on for 12 s more, and have as long to arrive.
    pub(super) fn run(mut self, back: Duration) -> Outcome {
        let last = TROUBLE + back + Duration::from_secs(12);
        self.world.run_until(Instant::ZERO + last);
        let way = self.start.way;
        let ticks = self.user(way).ticks.as_mut().expect("records are sent");
        let sent = (usize::MAX >> 1) - core::mem::take(&mut ticks.left);
        self.world.run_until(Instant::ZERO + last + Duration::from_secs(12));
        self.judge(way, sent, back)
    }

    fn judge(&mut self, way: Way, sent: usize, back: Duration) -> Outcome {
        let sender = self.user(way);
        let up = sender.events.iter().find(|(_, event)| matches!(event, Event::Up { .. }));
        let first = up.expect("it came up").0;
        let moves =
            sender.events.iter().filter(|(_, event)| matches!(event, Event::PathInUse { .. })).count();
        let closed = sender.closed() || self.user(Way::Up).closed() || self.user(Way::Down).closed();
        let interval = self.start.interval;
        let receiver = self.user(if way == Way::Up { Way::Down } else { Way::Up });
        let arrivals: Vec<Instant> = receiver.received.iter().map(|(at, _)| *at).collect();
        let trouble = Instant::ZERO + TROUBLE;
        let late: Vec<(Instant, Duration)> = (0..)
            .zip(&arrivals)
            .map(|(n, &at)| (at, at.saturating_since(first + interval * n)))
            .filter(|(at, _)| *at >= trouble)
            .collect();
        let back = trouble + back;
        let again =
            arrivals.iter().find(|at| **at >= back).copied().unwrap_or(Instant::ZERO + Duration::MAX / 2);
        let between = arrivals.windows(2).filter(|two| two[1] >= trouble);
        Outcome {
            survived: !closed && arrivals.len() == sent,
            gap: between.map(|two| two[1].saturating_since(two[0])).max().unwrap_or_default(),
            behind: late.iter().map(|(_, late)| *late).max().unwrap_or(Duration::MAX),
            recovery: again.saturating_since(back),
            moves,
        }
    }
}
