use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use whimbrel_handover::Policy;
use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, InterfaceKind, Seed};
use whimbrel_netsim::{HostId, LinkConfig, World};
use whimbrel_node::Node;
use whimbrel_proto::{Config, PathView};
use whimbrel_testbed::traffic::{File, Traffic};
use whimbrel_testbed::{Uplink, blank};

use super::User;
use crate::experiment::Watch;

/// Bytes of a message: those of a full packet.
const MESSAGE: u64 = 1452;
/// Bytes handed over and not acknowledged: more than the receive windows of the paper.
const BACKLOG: u64 = 8 << 20;

/// The network where the mobile node is at first.
pub(crate) const OLD: usize = 0;
/// The network that it goes to.
pub(crate) const NEW: usize = 1;

/// The air of an access network.
#[derive(Clone, Copy)]
pub(crate) struct Radio {
    /// To the mobile node.
    pub(crate) down: LinkConfig,
    /// From it.
    pub(crate) up: LinkConfig,
    /// What it is, as the mobile node sees it.
    pub(crate) kind: InterfaceKind,
}

/// What the hosts of an [`Overlap`] are.
pub(crate) struct OverlapHosts {
    /// The correspondent node's configuration, and the mobile node's.
    pub(crate) configs: [Config; 2],
    /// Makes the mobile node's policy.
    pub(crate) policy: Box<dyn Fn() -> Box<dyn Policy> + Send>,
    /// What the mobile node takes the rates of the networks for, bit/s. Its user prefers the one with the higher.
    pub(crate) rates: [u64; 2],
}

/// Two radio access networks that overlap, with wires of their own to a correspondent node that sends a file, and a mobile node that goes from the
/// old one to the new one (paper b09 Figure 1).
///
/// The mobile node has one network at first. What it enters and leaves, and when, is told it at the same moment.
pub(crate) struct Overlap {
    /// Everything.
    pub(crate) world: World<Node, User>,
    /// The correspondent node, which sends.
    pub(crate) cn: HostId,
    /// The mobile node, which reads.
    pub(crate) mn: HostId,
    /// The mobile node's ways into the networks; it is the `b` end of the links.
    pub(crate) radio: [Uplink; 2],
    /// Bytes of the file.
    file: u64,
}

/// The mobile node's address in a network.
pub(crate) fn mobile_in(network: usize) -> SocketAddr {
    SocketAddr::from(([10, 1, network as u8, 3], 0))
}

/// The correspondent node's address.
pub(crate) fn correspondent() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 0))
}

impl Overlap {
    /// Sets it up. `wired` is one direction of each network's wires. The mobile node opens the
    /// association at once, and `file` bytes are sent as soon as it is up.
    pub(crate) fn new(
        seed: u64,
        hosts: OverlapHosts,
        networks: [Radio; 2],
        wired: LinkConfig,
        file: u64,
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let [cn_config, mn_config] = hosts.configs.map(Arc::new);
        let node = |config, number, local| Node::new(config, world.seed().child("host", number), vec![local]);
        let cn_node = node(cn_config, 1, correspondent());
        let mn_node = node(mn_config, 2, mobile_in(OLD)).with_policy(hosts.policy);
        let traffic: Box<dyn Traffic> = Box::new(File::in_messages(file, MESSAGE, BACKLOG));
        let cn = world.add_host("cn", cn_node, User::replier(traffic).saying(blank));
        let mn = world.add_host("mn", mn_node, User::opener(Instant::ZERO, vec![correspondent()]));
        let core = world.add_router();
        let own = world.add_interface(cn, [correspondent().ip()]);
        world.add_link(own, core, LinkConfig::default(), LinkConfig::default());
        let radio = [OLD, NEW].map(|number| {
            let access = world.add_router();
            world.add_link(core, access, wired, wired);
            let (network, address) = (networks[number], mobile_in(number));
            let interface = world.add_interface(mn, [address.ip()]);
            let link = world.add_link(access, interface, network.down, network.up);
            Uplink {
                host: mn,
                link,
                interface,
                number: InterfaceId(number as u32),
                kind: network.kind,
                address,
            }
        });
        radio[NEW].cut(&mut world, Instant::ZERO);
        radio[OLD].name(&mut world, Instant::ZERO);
        let most = hosts.rates.into_iter().max();
        for (radio, rate) in radio.into_iter().zip(hosts.rates) {
            radio.about(&mut world, Instant::ZERO, InterfaceFact::Rate(rate));
            radio.about(&mut world, Instant::ZERO, InterfaceFact::Rank(u8::from(Some(rate) != most)));
        }
        Self { world, cn, mn, radio, file }
    }

    /// Runs until the first data can be sent, and says when that is; within a minute.
    pub(crate) fn begin(&mut self) -> Option<Instant> {
        let cn = self.cn;
        let most = Instant::ZERO + Duration::from_secs(60);
        self.world.run_until_or(most, |world| world.app(cn).up.is_some());
        self.world.app(cn).up
    }

    /// Has the mobile node enter the new network.
    pub(crate) fn enter(&mut self, at: Instant) {
        self.radio[NEW].enter(&mut self.world, at);
    }

    /// Has the mobile node enter the new network, and leave the old one.
    pub(crate) fn overlap(&mut self, enters: Instant, leaves: Instant) {
        self.enter(enters);
        self.radio[OLD].leave(&mut self.world, leaves);
    }

    /// Bytes that have been delivered to the mobile node's user.
    pub(crate) fn delivered(&self) -> u64 {
        self.world.app(self.mn).received
    }

    /// Bytes of the file.
    pub(crate) const fn file(&self) -> u64 {
        self.file
    }

    /// When the file was there; `None` while it is not.
    pub(crate) fn done(&self) -> Option<Instant> {
        let reader = self.world.app(self.mn);
        reader.silence.last().filter(|_| reader.received >= self.file)
    }

    /// Runs until then, or until the file is there.
    pub(crate) fn run_until(&mut self, until: Instant) {
        let (mn, file) = (self.mn, self.file);
        if self.done().is_none() {
            self.world.run_until_or(until, |world| world.app(mn).received >= file);
        }
    }

    /// The sender's paths; empty while there is no association.
    pub(crate) fn paths(&self) -> Vec<PathView> {
        self.world.app(self.cn).paths(self.world.machine(self.cn))
    }

    /// Records the run. The capture is what the mobile node's interfaces see.
    ///
    /// # Errors
    /// What the writer says.
    pub(crate) fn watch(&mut self, watch: Watch) -> io::Result<()> {
        watch.record(&mut self.world, &[(self.radio[OLD].link, "old"), (self.radio[NEW].link, "new")])
    }
}
