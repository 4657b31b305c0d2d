use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_netsim::{Action, Change, HostId, LinkConfig, LinkId, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{Config, PathView};

use crate::{Between, Uplink, User};

/// UDP encapsulation port of all hosts.
pub const UDP_PORT: u16 = 9899;
/// The client, among the two hosts.
pub const CLIENT: usize = 0;
/// The server.
pub const SERVER: usize = 1;

/// Two hosts and what is between them.
pub struct Pair {
    /// Everything.
    pub world: World<Node, User>,
    /// The host with the first user.
    pub client: HostId,
    /// The host with the second one.
    pub server: HostId,
    /// How the client and the server get into their networks.
    pub uplinks: [Vec<Uplink>; 2],
}

/// Address of a host ([`CLIENT`] or [`SERVER`]) in network `n`, counted from 0, where nothing is between the networks.
pub fn address(host: usize, n: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, n as u8 + 1, host as u8 + 1)), UDP_PORT)
}

/// Its address by its uplink `n`, counted from 0, where a router is between the hosts.
pub fn uplink_address(host: usize, n: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, host as u8 + 1, n as u8, 1)), UDP_PORT)
}

/// Addresses of the server in so many networks.
pub fn remotes(networks: usize) -> Vec<SocketAddr> {
    (0..networks).map(|n| address(SERVER, n)).collect()
}

/// A link of so many Mbit/s and ms, one way.
pub fn link(mbit: u64, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        rate_bps: Some(mbit * 1_000_000),
        delay: Duration::from_millis(delay_ms),
        ..LinkConfig::default()
    }
}

/// So many milliseconds.
pub fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// So many milliseconds after the beginning.
pub fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + millis(milliseconds)
}

impl Pair {
    /// Two hosts with `config`, joined by one network for each of `links`, with nothing between the networks.
    pub fn new(seed: u64, config: Config, links: &[LinkConfig], client: User, server: User) -> Self {
        Self::with_nodes(seed, config, links, client, server, |_, node| node)
    }

    /// As [`Self::new`]; `finish` makes the node of [`CLIENT`] and [`SERVER`] what it is to be.
    pub fn with_nodes(
        seed: u64,
        config: Config,
        links: &[LinkConfig],
        client: User,
        server: User,
        finish: impl Fn(usize, Node) -> Node,
    ) -> Self {
        let directions: Vec<_> = links.iter().map(|link| [*link; 2]).collect();
        Self::side_by_side(seed, [config.clone(), config], &directions, [client, server], finish)
    }

    /// Hosts that are configured differently: first the client, then the server. Each link has a direction to the server and one back.
    pub fn with_configs(
        seed: u64,
        configs: [Config; 2],
        links: &[[LinkConfig; 2]],
        client: User,
        server: User,
    ) -> Self {
        Self::side_by_side(seed, configs, links, [client, server], |_, node| node)
    }

    fn side_by_side(
        seed: u64,
        configs: [Config; 2],
        links: &[[LinkConfig; 2]],
        users: [User; 2],
        finish: impl Fn(usize, Node) -> Node,
    ) -> Self {
        let all = |host| (0..links.len()).map(|n| address(host, n)).collect::<Vec<_>>();
        let locals = [CLIENT, SERVER].map(all);
        let addresses = locals.clone().map(|all| all.into_iter().map(|one| vec![one]).collect());
        Self::build(seed, configs, locals, users, finish, |world, hosts| {
            Between::Networks.join(world, hosts, addresses, links)
        })
    }

    /// Two hosts with `config` and a router between them, with these uplinks each. A host begins with so many of its addresses, and is in
    /// the first networks alone; what kind of network each is comes from its number.
    pub fn around_router(
        seed: u64,
        config: Config,
        uplinks: [(usize, &[LinkConfig]); 2],
        users: [User; 2],
        finish: impl Fn(usize, Node) -> Node,
    ) -> Self {
        let all = |host, count| (0..count).map(|n| uplink_address(host, n)).collect::<Vec<_>>();
        let locals = [CLIENT, SERVER].map(|host| all(host, uplinks[host].0));
        let addresses = [CLIENT, SERVER]
            .map(|host| all(host, uplinks[host].1.len()).into_iter().map(|one| vec![one]).collect());
        let links: Vec<_> = uplinks.iter().flat_map(|(_, links)| *links).map(|link| [*link; 2]).collect();
        Self::build(seed, [config.clone(), config], locals, users, finish, |world, hosts| {
            Between::Router.join(world, hosts, addresses, &links)
        })
    }

    fn build(
        seed: u64,
        configs: [Config; 2],
        locals: [Vec<SocketAddr>; 2],
        users: [User; 2],
        finish: impl Fn(usize, Node) -> Node,
        join: impl FnOnce(&mut World<Node, User>, [HostId; 2]) -> [Vec<Uplink>; 2],
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let nodes = [CLIENT, SERVER].map(|host| {
            configs[host].validate().expect("a valid configuration");
            let seed = world.seed().child("host", host as u64 + 1);
            finish(host, Node::new(Arc::new(configs[host].clone()), seed, locals[host].clone()))
        });
        let [client, server] = users;
        let [client_node, server_node] = nodes;
        let server = world.add_host("server", server_node, server);
        let client = world.add_host("client", client_node, client);
        let uplinks = join(&mut world, [client, server]);
        Self { world, client, server, uplinks }
    }

    // ---- what happens

    /// Lets time pass until so many seconds after the beginning.
    pub fn run(&mut self, seconds: u64) {
        self.world.run_until(Instant::from_nanos(seconds * 1_000_000_000));
    }

    /// The client's link `n`, counted from 0.
    pub fn link(&self, n: usize) -> LinkId {
        self.uplinks[CLIENT][n].link
    }

    /// A link of the client changes at `at`, in these directions; it is the `a` end.
    pub fn change(&mut self, n: usize, side: Side, at: Instant, change: Change) {
        self.world.schedule(at, Action::Link(self.link(n), side, change));
    }

    /// Cuts a link of the client both ways at `at`.
    pub fn cut(&mut self, n: usize, at: Instant) {
        self.uplinks[CLIENT][n].cut(&mut self.world, at);
    }

    /// Packets pass it again from `at` on.
    pub fn heal(&mut self, n: usize, at: Instant) {
        self.uplinks[CLIENT][n].heal(&mut self.world, at);
    }

    /// From `at` on a packet takes `milliseconds` through it, either way.
    pub fn delay(&mut self, n: usize, at: Instant, milliseconds: u64) {
        self.change(n, Side::Both, at, Change::Delay(Duration::from_millis(milliseconds)));
    }

    // ---- what is seen

    /// The client's user.
    pub fn client(&self) -> &User {
        self.user(CLIENT)
    }

    /// The server's user.
    pub fn server(&self) -> &User {
        self.user(SERVER)
    }

    /// The user of [`CLIENT`] or [`SERVER`].
    pub fn user(&self, host: usize) -> &User {
        self.world.app(self.uplinks[host][0].host)
    }

    /// The paths of a host's association; none before it is up.
    pub fn paths(&self, host: usize) -> Vec<PathView> {
        self.user(host).paths(self.world.machine(self.uplinks[host][0].host))
    }

    /// The path by which a host sends new data.
    pub fn in_use(&self, host: usize) -> Option<Route> {
        self.paths(host).iter().find(|path| path.in_use).map(|path| path.route)
    }

    /// The most that a message came later to the server than it was due, of those that the client makes at this interval.
    pub fn behind(&self, interval: Duration) -> Duration {
        let first = self.client().came_up().expect("it is up");
        self.server().behind(first, interval, Instant::ZERO)
    }
}
