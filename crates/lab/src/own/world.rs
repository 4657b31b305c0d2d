//! The world of a scenario file: access networks that meet in one router, hosts in them, and a correspondent node for each.

use core::time::Duration;

use whimbrel_machine::{Instant, InterfaceKind, Seed};
use whimbrel_netsim::{LinkConfig, LinkId, Mixed, Queueing, RouterId, World};
use whimbrel_node::Node;
use whimbrel_testbed::{Rival, RivalUser};

use super::correspondent::Addresses;
use super::file::{Event, File, Kind, Network, QueueName};
use super::residents::Resident;
use crate::setups::User;

/// When the experiment begins; before it, the hosts set themselves up.
pub(super) const START: Duration = Duration::from_secs(1);

pub(super) type OwnWorld = World<Mixed<Node, Rival>, Mixed<User, RivalUser>>;

pub(super) struct Place<'a> {
    pub(super) world: OwnWorld,
    pub(super) residents: Vec<Resident<'a>>,
    /// In the order of preference.
    pub(super) networks: Vec<Access<'a>>,
    /// Where everybody meets, unless correspondent nodes have an address behind each network.
    pub(super) core: RouterId,
    pub(super) addresses: Addresses,
    /// How long the experiment lasts.
    pub(super) lasts: Duration,
    /// When it ends.
    pub(super) end: Instant,
    /// What happens to the networks.
    pub(super) events: &'a [Event],
}

/// An access network: a link that all its hosts share, and what they are connected to behind it.
pub(super) struct Access<'a> {
    pub(super) name: &'a str,
    pub(super) plan: &'a Network,
    pub(super) link: LinkId,
    pub(super) router: RouterId,
    /// At the other end of the link.
    pub(super) far: RouterId,
}

pub(super) fn after(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

impl Network {
    pub(super) const fn interface_kind(&self) -> InterfaceKind {
        match self.kind {
            Kind::Wired => InterfaceKind::Wired,
            Kind::Wlan | Kind::Dot11a | Kind::Dot11b => InterfaceKind::WirelessLan,
            Kind::Cellular | Kind::Umts => InterfaceKind::Cellular,
            Kind::Other => InterfaceKind::Other,
        }
    }

    /// One direction, at a rate in Mbit/s.
    fn direction(&self, rate: f64) -> LinkConfig {
        let bits = rate.max(0.001) * 1e6;
        LinkConfig {
            rate_bps: (!self.is_shared()).then_some(bits as u64),
            queue: self.buffer.limit(bits),
            queueing: match self.queue {
                QueueName::DropTail => Queueing::DropTail,
                QueueName::PerFlow => Queueing::PerFlow,
            },
            delay: after(self.delay / 1e3),
            jitter: after(self.jitter / 1e3),
            loss: self.loss.model(self.burst),
            ..LinkConfig::default()
        }
    }
}

impl<'a> Place<'a> {
    /// Everything as the file has it; hosts that name no policy of their own have `compared`.
    ///
    /// # Errors
    /// What is wrong with a policy or a profile, which [`super::limits`] excludes.
    pub(super) fn new(file: &'a File, compared: &str, seed: u64) -> Result<Self, String> {
        let mut world = World::new(Seed::from_u64(seed));
        let core = world.add_router();
        // The best network comes first: a host's address there is the one that is connected to.
        let mut plans: Vec<(&String, &Network)> = file.network.iter().collect();
        plans.sort_by_key(|(_, network)| network.rank);
        let mut networks = Vec::new();
        for (name, plan) in plans {
            let router = world.add_router();
            let rate = plan.nominal_rate();
            let [down, up] = [rate, plan.rate_up.unwrap_or(rate)].map(|rate| plan.direction(rate));
            let far = file.correspondent.router(&mut world, core);
            networks.push(Access { name, plan, link: world.add_link(far, router, down, up), router, far });
        }
        let lasts = after(file.duration);
        let end = Instant::ZERO + START + lasts;
        let addresses = file.correspondent.addresses;
        let events = &file.event;
        let residents = Vec::new();
        let mut this = Self { world, residents, networks, core, addresses, lasts, end, events };
        for (number, (name, host)) in (0..).zip(file.hosts()) {
            this.settle(file, number, name, host, host.policy.as_deref().unwrap_or(compared))?;
        }
        this.share_air();
        this.schedule(events);
        Ok(this)
    }
}
