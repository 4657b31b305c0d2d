use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use whimbrel_handover::{Pace, Seamless};
use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Seed};
use whimbrel_netsim::{Action, Change, HostId, LinkConfig, LinkId, QueueLimit, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{Config, PathView};
use whimbrel_testbed::Uplink;

use super::User;
use crate::experiment::Watch;
use crate::scenario::{DataError, Papers};
use crate::scheme::Whose;

/// An access network with the same rate, delay and queue in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AccessNetwork {
    /// bit/s.
    pub rate: f64,
    /// One way.
    pub delay: Duration,
    /// What it is, as the mobile node sees it.
    pub kind: InterfaceKind,
}

impl AccessNetwork {
    /// A network of the papers, by name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(papers: &Papers, name: &str) -> Result<Self, DataError> {
        let network = papers.network(name)?;
        let kind = if name == "wlan" { InterfaceKind::WirelessLan } else { InterfaceKind::Cellular };
        let delay = Duration::from_secs_f64(network.number("delay")?);
        Ok(Self { rate: network.number("rate")?, delay, kind })
    }

    /// One direction with room for `queue` packets.
    pub fn link(&self, queue: u32) -> LinkConfig {
        LinkConfig {
            rate_bps: Some(self.rate as u64),
            queue: QueueLimit::packets(queue),
            delay: self.delay,
            ..LinkConfig::default()
        }
    }
}

/// How the hosts are set up.
pub enum Hosts {
    /// Both with this configuration, and without a policy.
    Plain(Config),
    /// The correspondent node and the mobile node with these, and without a policy.
    Each(Box<[Config; 2]>),
    /// Both with this configuration; the mobile node has the policy that users have, and says which network it prefers:
    /// the one it begins with.
    Seamless(Config),
}

impl Hosts {
    /// With a policy of Whimbrel's own, or none: papers whose hosts have two fixed addresses have none.
    pub(crate) const fn decided_by(policy: Whose, config: Config) -> Self {
        match policy {
            Whose::Papers => Self::Plain(config),
            Whose::Ours => Self::Seamless(config),
        }
    }
}

/// Two hosts with two interfaces each, and two paths between them that share nothing: a correspondent node that sends, a
/// wired link and an access network on each path, and a mobile node that reads.
pub struct TwoPaths {
    /// Everything.
    pub world: World<Node, User>,
    /// The correspondent node, which sends.
    pub cn: HostId,
    /// The mobile node, which reads.
    pub mn: HostId,
    /// Per path: the link between the correspondent node and the router.
    pub wired: [LinkId; 2],
    /// Per path: the mobile node's way to the router, which is the `a` end of the link.
    pub access: [Uplink; 2],
}

const fn address(path: u8, host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, path, host))
}

/// The mobile node's address on a path, 0 or 1.
pub const fn mn_address(path: u8) -> IpAddr {
    address(path, 2)
}

fn socket(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, 0)
}

impl TwoPaths {
    /// Sets it up. `wired` is one direction of the wired links, `queue` the room in the access networks in packets.
    pub fn new(
        seed: u64,
        hosts: Hosts,
        networks: [AccessNetwork; 2],
        wired: LinkConfig,
        queue: u32,
        sender: impl FnOnce(Vec<SocketAddr>) -> User,
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let (configs, moves) = match hosts {
            Hosts::Plain(config) => ([config.clone(), config], false),
            Hosts::Each(configs) => (*configs, false),
            Hosts::Seamless(config) => ([config.clone(), config], true),
        };
        let configs = configs.map(Arc::new);
        let local = |host| [0, 1].map(|path| socket(address(path, host))).to_vec();
        let node = |host: u8| {
            let config = Arc::clone(&configs[usize::from(host) - 1]);
            Node::new(config, world.seed().child("host", host.into()), local(host))
        };
        let (cn_node, mut mn_node) = (node(1), node(2));
        if moves {
            mn_node = mn_node.with_policy(|| Box::new(Seamless::policy(Pace::MOBILE)));
        }
        let cn = world.add_host("cn", cn_node, sender(local(2)));
        let mn = world.add_host("mn", mn_node, User::reader());
        let links = [0, 1].map(|path: u8| {
            let router = world.add_router();
            let far = world.add_interface(cn, [address(path, 1)]);
            let near = world.add_interface(mn, [address(path, 2)]);
            let network = networks[usize::from(path)];
            let (config, address) = (network.link(queue), socket(mn_address(path)));
            let wired = world.add_link(far, router, wired, wired);
            let link = world.add_link(router, near, config, config);
            let (number, kind) = (InterfaceId(u32::from(path)), network.kind);
            (wired, Uplink { host: mn, link, interface: near, number, kind, address })
        });
        let access = links.map(|(_, access)| access);
        if moves {
            for (rank, access) in (0_u8..).zip(access) {
                access.name(&mut world, Instant::ZERO);
                access.about(&mut world, Instant::ZERO, InterfaceFact::Rank(rank));
            }
        }
        Self { world, cn, mn, wired: links.map(|(wired, _)| wired), access }
    }

    /// Has a path break at `at`, in both directions and with all that is on its way. Nobody is told.
    pub fn break_path(&mut self, path: usize, at: Instant) {
        self.access[path].cut(&mut self.world, at);
    }

    /// Has a path carry packets again from now on.
    pub fn mend_path(&mut self, path: usize) {
        self.world.act(Action::Link(self.access[path].link, Side::Both, Change::Up));
    }

    /// Has the mobile node see at `at` that the interface of a path has lost its carrier.
    pub fn lose_carrier(&mut self, path: u8, at: Instant) {
        let access = self.access[usize::from(path)];
        access.tell(&mut self.world, at, LinkFact::AddressDown(access.address));
        access.about(&mut self.world, at, InterfaceFact::Down);
    }

    /// The sender's paths; empty while there is no association.
    pub fn paths(&self) -> Vec<PathView> {
        self.world.app(self.cn).paths(self.world.machine(self.cn))
    }

    /// The sender's path to the mobile node's address on a path.
    pub fn path(&self, path: u8) -> Option<PathView> {
        self.paths().into_iter().find(|view| view.route.remote.ip() == mn_address(path))
    }

    /// The number of the first message that the primary path has not carried, which is new data for the alternate once the sender has moved.
    pub fn first_not_carried(&self) -> u32 {
        self.path(0).map_or(0, |path| path.counters.data_sent) as u32
    }

    /// Records the run. The capture is what the mobile node's interfaces see.
    ///
    /// # Errors
    /// What the writer says.
    pub fn watch(&mut self, watch: Watch) -> io::Result<()> {
        watch.record(&mut self.world, &[(self.access[0].link, "primary"), (self.access[1].link, "alternate")])
    }
}

#[cfg(test)]
#[path = "two_paths_tests.rs"]
mod tests;
