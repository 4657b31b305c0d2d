//! A mobile host and a server, and what may happen to them, as the script of the torture table has them.

use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::{Pace, Policy, Seamless};
use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, LinkFact, Seed};
use whimbrel_netsim::{Action, Change, HostId, InFlight, RouterId, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::Config;

use super::conditions::{Conditions, TROUBLE};
use super::outcome::Outcome;
use super::places::{self, Families, NAT_IDLE, Network, Translation, called};
use whimbrel_testbed::{Uplink, User, link};

/// Records go on for so long after the trouble.
const AFTERWARDS: Duration = Duration::from_secs(6);

/// What is said of the end is said of so long.
const AT_LAST: Duration = Duration::from_secs(2);

/// All that was sent arrives within this time after the last record.
const DRAINED: Duration = Duration::from_secs(12);

/// Which way packets go: from the mobile host, to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Up,
    Down,
}

impl Way {
    /// This way alone.
    pub(super) const fn only(self) -> &'static [Self] {
        match self {
            Self::Up => &[Self::Up],
            Self::Down => &[Self::Down],
        }
    }
}

/// One of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Host {
    Mobile,
    Server,
}

/// What a row begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The networks that the mobile host is in.
    pub networks: &'static [Network],
    /// Those that the server is in.
    pub cores: &'static [Network],
    pub record: usize,
    pub interval: Duration,
    /// Which ways records go.
    pub ways: &'static [Way],
    /// Of the mobile host, of the server, and of the addresses by which the user names it.
    pub families: [Families; 3],
    pub translation: Translation,
    /// How long after an address its network tells how it calls IPv4 addresses, if it does.
    pub prefix_told_after: Duration,
}

/// A row's hosts and what is to happen to them.
pub(super) struct Torture {
    world: World<Node, User>,
    mobile: HostId,
    server: HostId,
    router: RouterId,
    /// A longer way to the router.
    detour: RouterId,
    /// By network, in the order of [`Network::ALL`]; addresses come and go.
    uplinks: Vec<Uplink>,
    /// The addresses that hosts have, as far as the script has been written.
    held: Vec<(Network, SocketAddr)>,
    start: Start,
    /// When the trouble begins.
    trouble: Duration,
}

fn seamless() -> Box<dyn Policy> {
    Box::new(Seamless::policy(Pace::MOBILE))
}

impl Torture {
    pub(super) fn new(seed: u64, config: &Config, conditions: &Conditions) -> Self {
        let start = conditions.start;
        let config = Arc::new(config.clone());
        config.validate().unwrap();
        let mut world = World::new(Seed::from_u64(seed));
        let [of_mobile, of_server, named] = start.families;
        let in_networks = |networks: &'static [Network], families| -> Vec<(Network, SocketAddr)> {
            let of = |network| {
                places::addresses(network, families, start.translation, 2).map(move |at| (network, at))
            };
            networks.iter().copied().flat_map(of).collect()
        };
        let held = [in_networks(start.networks, of_mobile), in_networks(start.cores, of_server)];
        let node = |world: &World<Node, User>, n, held: &[(Network, SocketAddr)]| {
            let locals = held.iter().map(|(_, address)| *address).collect();
            Node::new(Arc::clone(&config), world.seed().child("host", n), locals).with_policy(seamless)
        };
        let (at_mobile, at_server) = (node(&world, 1, &held[0]), node(&world, 2, &held[1]));
        let remotes = in_networks(start.cores, named).into_iter().map(|(_, address)| address);
        // As DNS64 says.
        let prefix = start.translation.prefix(start.networks[0]).filter(|_| of_mobile == Families::V6);
        let remotes: Vec<SocketAddr> =
            remotes.map(|at| prefix.map_or(at, |prefix| called(at, prefix))).collect();
        let (mut client_user, mut server_user) = (User::client(&remotes), User::server());
        for way in start.ways {
            let sender = if *way == Way::Up { &mut client_user } else { &mut server_user };
            // Ended by `run`.
            sender.tick(start.interval, start.record, usize::MAX);
        }
        let server = world.add_host("server", at_server, server_user);
        let mobile = world.add_host("mobile", at_mobile, client_user);
        let (router, detour) = (world.add_router(), world.add_router());
        let mut uplinks = Vec::new();
        for network in Network::ALL {
            let host = if network.is_servers() { server } else { mobile };
            let interface = world.add_interface(host, []);
            let config = conditions.link(network);
            // Who asks which side is which asks for the mobile host's.
            let link = match network.is_servers() {
                true => world.add_link(router, interface, config, config),
                false => world.add_link(interface, router, config, config),
            };
            let (number, kind) = (InterfaceId(network as u32), network.kind());
            let address = SocketAddr::new(network.public().into(), 0);
            uplinks.push(Uplink { host, link, interface, number, kind, address });
        }
        world.add_link(detour, router, link(100, 15), link(100, 15));
        let held = held.concat();
        let trouble = conditions.trouble;
        let mut torture =
            Self { world, mobile, server, router, detour, uplinks, held: Vec::new(), start, trouble };
        torture.translate();
        for (network, address) in held {
            torture.gets(Duration::ZERO, network, address);
        }
        torture
    }

    fn translate(&mut self) {
        for network in Network::ALL.into_iter().filter(|network| !network.is_servers()) {
            let interface = self.at(network).interface;
            match (self.start.translation, self.start.translation.prefix(network)) {
                (Translation::None, _) => {}
                (_, Some(prefix)) => self.world.add_nat64(interface, prefix, network.public(), NAT_IDLE),
                (_, None) => self.world.add_nat(interface, network.public().into(), NAT_IDLE),
            }
        }
    }

    fn at(&self, network: Network) -> Uplink {
        self.uplinks[network as usize - 1]
    }

    fn host(&self, host: Host) -> HostId {
        if host == Host::Mobile { self.mobile } else { self.server }
    }

    fn schedule(&mut self, at: Duration, action: Action<Node, User>) {
        self.world.schedule(Instant::ZERO + at, action);
    }

    // ---- addresses

    /// From the run's beginning.
    fn gets(&mut self, at: Duration, network: Network, address: SocketAddr) {
        self.held.push((network, address));
        self.schedule(at, Action::AddAddress(self.at(network).interface, address.ip()));
        self.attached(at, network, address);
        if at > Duration::ZERO {
            self.fact(at, network, LinkFact::AddressUp(address));
        }
    }

    fn loses(&mut self, at: Duration, network: Network, address: SocketAddr) {
        self.held.retain(|held| *held != (network, address));
        self.schedule(at, Action::RemoveAddress(self.at(network).interface, address.ip()));
        self.fact(at, network, LinkFact::AddressDown(address));
    }

    fn fact(&mut self, at: Duration, network: Network, fact: LinkFact) {
        self.at(network).tell(&mut self.world, Instant::ZERO + at, fact);
    }

    fn attached(&mut self, at: Duration, network: Network, address: SocketAddr) {
        Uplink { address, ..self.at(network) }.name(&mut self.world, Instant::ZERO + at);
        if self.start.translation == Translation::OwnNat64 && !network.is_servers() && address.is_ipv6() {
            self.tell_prefix(at + self.start.prefix_told_after, network);
        }
    }

    /// What a router advertisement says (RFC 8781).
    fn tell_prefix(&mut self, at: Duration, network: Network) {
        let fact = InterfaceFact::Nat64(self.start.translation.prefix(network));
        self.at(network).about(&mut self.world, Instant::ZERO + at, fact);
    }

    fn held_in(&self, network: Network, families: Families) -> Vec<SocketAddr> {
        let there = self.held.iter().filter(|(at, address)| *at == network && families.include(address.ip()));
        there.map(|(_, address)| *address).collect()
    }

    /// A host comes into a network, with its second address there if `host` is not 2.
    pub(super) fn join_as(&mut self, after: Duration, network: Network, families: Families, host: u8) {
        for address in places::addresses(network, families, self.start.translation, host) {
            self.gets(self.trouble + after, network, address);
        }
    }

    pub(super) fn join(&mut self, after: Duration, network: Network, families: Families) {
        self.join_as(after, network, families, 2);
    }

    /// A host loses these addresses in a network, and is told.
    pub(super) fn leave(&mut self, after: Duration, network: Network, families: Families) {
        for address in self.held_in(network, families) {
            self.loses(self.trouble + after, network, address);
        }
    }

    /// Another address, at once.
    pub(super) fn renumber(&mut self, after: Duration, network: Network) {
        self.leave(after, network, Families::Both);
        self.join_as(after, network, Families::V4, 77);
    }

    // ---- networks

    /// The network changes both ways, some time after the trouble's beginning.
    pub(super) fn change(&mut self, after: Duration, network: Network, change: Change) {
        self.change_way(after, network, Side::Both, change);
    }

    /// It changes in one direction only.
    pub(super) fn change_one(&mut self, after: Duration, network: Network, way: Way, change: Change) {
        self.change_way(after, network, if way == Way::Up { Side::AtoB } else { Side::BtoA }, change);
    }

    fn change_way(&mut self, after: Duration, network: Network, side: Side, change: Change) {
        self.schedule(self.trouble + after, Action::Link(self.at(network).link, side, change));
    }

    /// Nothing passes the network for some time; nobody tells.
    pub(super) fn silence(&mut self, after: Duration, network: Network, lasts: Duration) {
        self.change(after, network, Change::Down(InFlight::Lost));
        self.change(after + lasts, network, Change::Up);
    }

    /// The host loses its addresses there for some time, and is told.
    pub(super) fn unplug(&mut self, after: Duration, network: Network, lasts: Duration) {
        self.silence(after, network, lasts);
        for address in self.held_in(network, Families::Both) {
            self.fact(self.trouble + after, network, LinkFact::AddressDown(address));
            let back = self.trouble + after + lasts;
            self.attached(back, network, address);
            self.fact(back, network, LinkFact::AddressUp(address));
        }
    }

    /// Its NAT box gives everybody other ports from now on.
    pub(super) fn forget(&mut self, after: Duration, network: Network) {
        self.schedule(self.trouble + after, Action::ForgetMappings(self.at(network).interface));
    }

    /// The host's addresses there stand behind another network's box from now on. Nobody tells.
    pub(super) fn rehome(&mut self, after: Duration, from: Network, to: Network) {
        for at in self.held_in(from, Families::Both) {
            self.schedule(self.trouble + after, Action::AddAddress(self.at(to).interface, at.ip()));
        }
    }

    /// The way from the network to the rest of the world becomes another one, 15 ms longer, or the first one again.
    pub(super) fn reroute(&mut self, after: Duration, network: Network, detour: Way) {
        let to = if detour == Way::Up { self.detour } else { self.router };
        self.schedule(self.trouble + after, Action::Reattach(self.at(network).link, to.into()));
    }

    // ---- hosts

    pub(super) fn sleep(&mut self, after: Duration, host: Host, lasts: Duration) {
        let host = self.host(host);
        self.schedule(self.trouble + after, Action::Suspend(host));
        self.schedule(self.trouble + after + lasts, Action::Resume(host));
    }

    pub(super) fn networks(&self) -> &'static [Network] {
        self.start.networks
    }

    fn user(&mut self, way: Way) -> &mut User {
        let host = if way == Way::Up { self.mobile } else { self.server };
        self.world.app_mut(host)
    }

    /// Lets the row happen. The trouble is over `back` after it began.
    pub(super) fn run(mut self, back: Duration) -> Outcome {
        let last = self.trouble + back + AFTERWARDS;
        self.world.run_until(Instant::ZERO + self.trouble);
        // Who has connected may not have heard of it yet, and give up.
        if [Way::Up, Way::Down].into_iter().any(|way| self.user(way).came_up().is_none()) {
            return Outcome::not_begun(self.trouble >= TROUBLE);
        }
        let before = self.packets_sent();
        self.world.run_until(Instant::ZERO + self.trouble + back);
        let packets = self.packets_sent() - before;
        self.world.run_until(Instant::ZERO + last - AT_LAST);
        let before = self.passed();
        self.world.run_until(Instant::ZERO + last);
        let passed = self.passed();
        let ways = self.start.ways;
        ways.iter().for_each(|way| self.user(*way).traffic = None);
        self.world.run_until(Instant::ZERO + last + DRAINED);
        self.world.finish().expect("captures are written");
        let outcomes = ways.iter().map(|way| self.judge(*way, back));
        let worst = outcomes.reduce(Outcome::worse).expect("records go some way");
        let [first, all] = [0, 1].map(|n| passed[n] - before[n]);
        Outcome { packets, aside: (all - first) as f64 / all.max(1) as f64, ..worst }
    }

    /// What has passed the first of the mobile host's networks, both ways, and all of them.
    fn passed(&self) -> [u64; 2] {
        let by = |network: Network| -> u64 {
            [Side::AtoB, Side::BtoA]
                .map(|side| self.world.stats(self.at(network).link, side).delivered_packets)
                .iter()
                .sum()
        };
        let mobiles = Network::ALL.into_iter().filter(|network| !network.is_servers());
        [by(self.start.networks[0]), mobiles.map(by).sum()]
    }

    /// By both hosts.
    fn packets_sent(&self) -> u64 {
        let sent = |network: Network| {
            let side = if network.is_servers() { Side::BtoA } else { Side::AtoB };
            self.world.stats(self.at(network).link, side).offered_packets
        };
        Network::ALL.into_iter().map(sent).sum()
    }

    /// Writes what all links carry to `out`, as pcapng.
    pub(super) fn capture(&mut self, out: impl std::io::Write + Send + 'static) {
        let names = Network::ALL.map(|network| format!("{network:?}"));
        let links: Vec<_> =
            self.uplinks.iter().zip(&names).map(|(at, name)| (at.link, name.as_str())).collect();
        self.world.capture(&links, out).expect("a capture begins");
    }

    fn judge(&mut self, way: Way, back: Duration) -> Outcome {
        let closed = self.user(Way::Up).closed() || self.user(Way::Down).closed();
        let (first, moves, sent) = {
            let sender = self.user(way);
            (sender.came_up().expect("it came up"), sender.moves().len(), sender.sent as usize)
        };
        let (interval, now) = (self.start.interval, self.world.now());
        let (trouble, back) = (Instant::ZERO + self.trouble, Instant::ZERO + self.trouble + back);
        let receiver = self.user(if way == Way::Up { Way::Down } else { Way::Up });
        let again = receiver.received.iter().map(|(at, _)| *at).find(|at| *at >= back);
        Outcome {
            survived: !closed && receiver.received.len() == sent,
            gap: receiver.longest_gap(trouble, now).0,
            behind: receiver.behind(first, interval, trouble),
            recovery: again.map_or(Duration::MAX / 2, |again| again.saturating_since(back)),
            moves,
            packets: 0,
            aside: 0.0,
        }
    }
}
