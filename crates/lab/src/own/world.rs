//! The world of a scenario file: a correspondent node with one address, and a mobile node with one interface per access
//! network, all of which meet in one router.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::{Failover, FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::{
    Cost, Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, ReceivedPower, Seed,
};
use whimbrel_netsim::{Action, Change, HostId, InFlight, LinkConfig, LinkId, Loss, QueueLimit, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::Config;

use super::file::{Event, File, Kind, Network, PolicyName, Traffic, What};
use crate::testbed::User;
use crate::testbed::traffic::{self, ConstantRate, Greedy};

/// When traffic starts.
const START: Duration = Duration::from_secs(1);

pub(super) struct Place {
    pub(super) world: World<Node, User>,
    pub(super) cn: HostId,
    pub(super) mn: HostId,
    pub(super) access: Vec<LinkId>,
    pub(super) end: Instant,
}

const CN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

fn address(network: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, network as u8, 2))
}

fn after(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

fn direction(network: &Network, rate: f64) -> LinkConfig {
    let bits = rate.max(0.001) * 1e6;
    LinkConfig {
        rate_bps: Some(bits as u64),
        queue: QueueLimit::bytes((bits / 8.0 * network.buffer / 1e3).max(3000.0) as u64),
        delay: after(network.delay / 1e3),
        jitter: after(network.jitter / 1e3),
        loss: if network.loss > 0.0 { Loss::Bernoulli(network.loss) } else { Loss::None },
        ..LinkConfig::default()
    }
}

fn policy(name: PolicyName) -> Option<Box<dyn Policy>> {
    match name {
        PolicyName::Seamless => Some(Box::new(Seamless::policy(Pace::MOBILE))),
        PolicyName::Failover => Some(Box::new(Failover::policy(Pace::MOBILE))),
        PolicyName::FastestNetwork => Some(Box::new(FastestNetwork::policy(Pace::MOBILE))),
        PolicyName::Rfc => None,
    }
}

impl Place {
    pub(super) fn new(file: &File, name: PolicyName, seed: u64) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let mut config = if name == PolicyName::Rfc { Config::rfc() } else { Config::mobile() };
        config.limits.send_buffer = 1 << 30;
        let config = Arc::new(config);
        // The best network comes first: its address is the one that is connected to.
        let mut networks: Vec<(&String, &Network)> = file.network.iter().collect();
        networks.sort_by_key(|(_, network)| network.rank);
        let socket = |ip| SocketAddr::new(ip, 0);
        let local: Vec<SocketAddr> = (0..networks.len()).map(|n| socket(address(n))).collect();
        let cn_node = Node::new(Arc::clone(&config), world.seed().child("host", 1), vec![socket(CN)]);
        let mut mn_node = Node::new(config, world.seed().child("host", 2), local.clone());
        if policy(name).is_some() {
            mn_node = mn_node.with_policy(move || policy(name).expect("asked before"));
        }
        let start = Seed::from_u64(seed).stream("traffic.start", 0).duration_below(START);
        let sender = User::sender(Instant::ZERO + start, local, traffic(file.traffic));
        let cn = world.add_host("cn", cn_node, sender);
        let mn = world.add_host("mn", mn_node, User::reader());
        let core = world.add_router();
        let far = world.add_interface(cn, [CN]);
        world.add_link(far, core, LinkConfig::wired(), LinkConfig::wired());
        let mut access = Vec::new();
        for (number, (_, network)) in networks.iter().enumerate() {
            let near = world.add_interface(mn, [address(number)]);
            let (down, up) = (direction(network, network.rate), network.rate_up.unwrap_or(network.rate));
            access.push(world.add_link(core, near, down, direction(network, up)));
        }
        let end = Instant::ZERO + START + after(file.duration);
        let mut this = Self { world, cn, mn, access, end };
        for (number, (_, network)) in networks.iter().enumerate() {
            this.introduce(number, network);
        }
        for event in &file.event {
            if let Some(number) = networks.iter().position(|(name, _)| **name == event.network) {
                this.schedule(number, event);
            }
        }
        this
    }

    fn introduce(&mut self, number: usize, network: &Network) {
        let interface = InterfaceId(number as u32);
        let kind = match network.kind {
            Kind::Wired => InterfaceKind::Wired,
            Kind::Wlan => InterfaceKind::WirelessLan,
            Kind::Cellular => InterfaceKind::Cellular,
            Kind::Other => InterfaceKind::Other,
        };
        let cost = if network.metered { Cost::Metered } else { Cost::Flat };
        let facts = [
            InterfaceFact::Up(kind),
            InterfaceFact::Rank(network.rank),
            InterfaceFact::Rate((network.rate * 1e6) as u64),
            InterfaceFact::Cost(cost),
        ];
        self.fact(Instant::ZERO, LinkFact::AddressOn { interface, address: address(number) });
        for fact in facts {
            self.fact(Instant::ZERO, LinkFact::Interface { interface, fact });
        }
    }

    fn fact(&mut self, at: Instant, fact: LinkFact) {
        self.world.schedule(at, Action::Fact(self.mn, fact));
    }

    /// Schedules an event as often as it happens before the end.
    fn schedule(&mut self, number: usize, event: &Event) {
        let mut at = Instant::ZERO + START + after(event.at);
        while at <= self.end {
            self.once(number, event.what, event.value, at);
            if let (Some(lasts), What::Break | What::Lose) = (event.lasts, event.what) {
                let end = if event.what == What::Break { None } else { Some(()) };
                self.mend(number, at + after(lasts), end.is_some());
            }
            match event.every {
                Some(every) if every > 0.0 => at += after(every),
                _ => return,
            }
        }
    }

    fn once(&mut self, number: usize, what: What, value: f64, at: Instant) {
        let interface = InterfaceId(number as u32);
        let change = match what {
            What::Break => Change::Down(InFlight::Lost),
            What::Lose => {
                self.link(number, at, Change::Down(InFlight::Lost));
                self.fact(at, LinkFact::Interface { interface, fact: InterfaceFact::Down });
                return self.fact(at, LinkFact::AddressDown(SocketAddr::new(address(number), 0)));
            }
            What::Return => return self.mend(number, at, true),
            What::Warn => {
                return self.fact(at, LinkFact::Interface { interface, fact: InterfaceFact::GoingDown });
            }
            What::Signal => {
                let fact = InterfaceFact::Signal(ReceivedPower::from_dbm(value));
                return self.fact(at, LinkFact::Interface { interface, fact });
            }
            What::Rate => Change::Rate(Some((value * 1e6) as u64)),
            What::Delay => Change::Delay(after(value / 1e3)),
            What::Loss => Change::Loss(Loss::Bernoulli(value)),
        };
        self.link(number, at, change);
    }

    fn mend(&mut self, number: usize, at: Instant, told: bool) {
        self.link(number, at, Change::Up);
        if told {
            let interface = InterfaceId(number as u32);
            self.fact(at, LinkFact::Interface { interface, fact: InterfaceFact::Up(InterfaceKind::Other) });
            self.fact(at, LinkFact::AddressUp(SocketAddr::new(address(number), 0)));
        }
    }

    fn link(&mut self, number: usize, at: Instant, change: Change) {
        self.world.schedule(at, Action::Link(self.access[number], Side::Both, change));
    }
}

fn traffic(traffic: Traffic) -> Box<dyn traffic::Traffic> {
    match traffic {
        Traffic::Bulk { size } => Box::new(Greedy::new(size.clamp(1, 65_536), 8 << 20)),
        Traffic::ConstantRate { size, rate } => {
            Box::new(ConstantRate::new(size.clamp(1, 65_536), rate.max(0.001) * 1e6))
        }
    }
}
