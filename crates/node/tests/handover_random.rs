//! Two hosts that both move, at random: networks come and go with and without a word, links warn and lie, packets get lost, and now and
//! then a host has no network at all for a while. In the end everything must have arrived, once and in order.
//!
//! `WHIMBREL_SEEDS=2000 cargo test --release -p whimbrel-node handover_random` tries that many worlds.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::{Failover, FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::{
    Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, ReceivedPower, Rng, Seed,
};
use whimbrel_netsim::{Action as Happening, Change, HostId, InFlight, LinkId, Loss, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{Config, Event};

use crate::common::{Ticks, User, link, message};

const NETWORKS: usize = 3;
const MESSAGES: usize = 4000;

/// A network is one to rely on when it has been there this long.
const SETTLED: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Coverage {
    /// Not there, and the host knows.
    Absent,
    /// There since then.
    Present(Instant),
    /// Dead since then, and the host has not been told.
    Cut,
}

struct Mobile {
    host: HostId,
    links: Vec<LinkId>,
    networks: [Coverage; NETWORKS],
}

impl Mobile {
    fn settled(&self, now: Instant, but: Option<usize>) -> bool {
        let good =
            |coverage: &Coverage| matches!(coverage, Coverage::Present(since) if *since + SETTLED <= now);
        self.networks.iter().enumerate().any(|(n, coverage)| Some(n) != but && good(coverage))
    }
}

fn address(host: usize, network: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::from([10, host as u8 + 1, network as u8 + 1, 1]), 9899)
}

struct Wilderness {
    world: World<Node, User>,
    mobiles: [Mobile; 2],
    rng: Rng,
}

impl Wilderness {
    fn new(seed: u64) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let mut rng = world.seed().stream("wilderness", 0);
        let config = Arc::new(Config::mobile());
        let router = world.add_router();
        let mobiles = [1, 0].map(|n| {
            let locals = vec![address(n, 0), address(n, 1)];
            let which = rng.below(4);
            let policy = move || -> Box<dyn Policy> {
                match which {
                    0 => Box::new(Failover::policy(Pace::MOBILE)),
                    1 => Box::new(FastestNetwork::policy(Pace::MOBILE)),
                    _ => Box::new(Seamless::policy(Pace::MOBILE)),
                }
            };
            let seed = world.seed().child("host", n as u64);
            let node = Node::new(Arc::clone(&config), seed, locals).with_policy(policy);
            let mut user =
                if n == 0 { User::client(&[address(1, 0), address(1, 1)]) } else { User::server() };
            user.ticks = Some(Ticks { interval: Duration::from_millis(20), bytes: 400, left: MESSAGES });
            let host = world.add_host(if n == 0 { "client" } else { "server" }, node, user);
            let links = (0..NETWORKS)
                .map(|network| {
                    let interface = world.add_interface(host, [address(n, network).ip()]);
                    let mut config = link(5 + rng.below(20), 2 + rng.below(50));
                    config.loss = Loss::Bernoulli(rng.unit() * 0.05);
                    world.add_link(interface, router, config, config)
                })
                .collect();
            let networks =
                [Coverage::Present(Instant::ZERO), Coverage::Present(Instant::ZERO), Coverage::Absent];
            Mobile { host, links, networks }
        });
        let mobiles = {
            let [server, client] = mobiles;
            [client, server]
        };
        let mut wilderness = Self { world, mobiles, rng };
        for host in 0..2 {
            wilderness.switch(host, 2, Change::Down(InFlight::Lost));
            for network in 0..2 {
                wilderness.name(host, network);
            }
        }
        wilderness
    }

    fn now(&self) -> Instant {
        self.world.now()
    }

    fn tell(&mut self, host: usize, fact: LinkFact) {
        let (now, host) = (self.now(), self.mobiles[host].host);
        self.world.schedule(now, Happening::Fact(host, fact));
    }

    fn about(&mut self, host: usize, network: usize, fact: InterfaceFact) {
        self.tell(host, LinkFact::Interface { interface: InterfaceId(network as u32), fact });
    }

    fn switch(&mut self, host: usize, network: usize, change: Change) {
        let (now, link) = (self.now(), self.mobiles[host].links[network]);
        self.world.schedule(now, Happening::Link(link, Side::Both, change));
    }

    fn name(&mut self, host: usize, network: usize) {
        let kinds = [InterfaceKind::WirelessLan, InterfaceKind::Cellular, InterfaceKind::Wired];
        let (interface, address) = (InterfaceId(network as u32), address(host, network).ip());
        self.tell(host, LinkFact::AddressOn { interface, address });
        self.about(host, network, InterfaceFact::Up(kinds[network]));
    }

    fn enter(&mut self, host: usize, network: usize) {
        self.switch(host, network, Change::Up);
        if self.mobiles[host].networks[network] == Coverage::Absent {
            self.name(host, network);
            self.tell(host, LinkFact::AddressUp(address(host, network)));
        }
        self.mobiles[host].networks[network] = Coverage::Present(self.now());
    }

    fn leave(&mut self, host: usize, network: usize) {
        self.switch(host, network, Change::Down(InFlight::Lost));
        self.tell(host, LinkFact::AddressDown(address(host, network)));
        self.mobiles[host].networks[network] = Coverage::Absent;
    }

    fn cut(&mut self, host: usize, network: usize) {
        self.switch(host, network, Change::Down(InFlight::Lost));
        self.mobiles[host].networks[network] = Coverage::Cut;
    }

    /// Something happens. What would leave both hosts unable to find each other does not: then nobody could.
    fn something(&mut self) {
        let host = self.rng.below(2) as usize;
        let network = self.rng.below(NETWORKS as u64) as usize;
        let now = self.now();
        let other_stays = self.mobiles[1 - host].settled(now, None);
        let can_go = self.mobiles[host].settled(now, Some(network)) && other_stays;
        match (self.rng.below(8), self.mobiles[host].networks[network]) {
            (0..=3, Coverage::Absent | Coverage::Cut) => self.enter(host, network),
            (0 | 1, Coverage::Present(_)) if can_go => self.leave(host, network),
            (2, Coverage::Present(_)) if can_go => self.cut(host, network),
            (3, Coverage::Present(_)) if can_go => {
                self.about(host, network, InterfaceFact::GoingDown);
                self.pass(Duration::from_millis(300));
                self.leave(host, network);
            }
            (4, _) => self.about(host, network, InterfaceFact::GoingDown),
            (5 | 6, _) => {
                let power = ReceivedPower::from_dbm(-95.0 + 50.0 * self.rng.unit());
                self.about(host, network, InterfaceFact::Signal(power));
            }
            (7, _) if other_stays && self.rng.chance(0.3) => self.break_before_make(host, network),
            _ => {}
        }
    }

    /// Everything is lost, and after a while there is one network again.
    fn break_before_make(&mut self, host: usize, network: usize) {
        for network in 0..NETWORKS {
            self.leave(host, network);
        }
        // With nine paths, longer ones may use up Association.Max.Retrans.
        let outage = self.rng.duration_below(Duration::from_secs(1));
        self.pass(outage);
        self.enter(host, network);
        self.pass(SETTLED * 2);
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now() + time;
        self.world.run_until(until);
    }

    fn user(&self, host: usize) -> &User {
        self.world.app(self.mobiles[host].host)
    }

    fn done(&self) -> bool {
        (0..2).all(|host| self.user(host).received.len() == MESSAGES)
    }
}

fn wander(seed: u64) {
    let mut wilderness = Wilderness::new(seed);
    wilderness.pass(Duration::from_secs(5));
    let end = Instant::ZERO + Duration::from_secs(100);
    while wilderness.now() < end {
        let pause = wilderness.rng.duration_below(Duration::from_secs(2));
        wilderness.pass(pause);
        wilderness.something();
    }
    for host in 0..2 {
        for network in 0..NETWORKS {
            wilderness.enter(host, network);
        }
    }
    for _ in 0..60 {
        if !wilderness.done() {
            wilderness.pass(Duration::from_secs(5));
        }
    }
    for host in 0..2 {
        let user = wilderness.user(host);
        let ended = user.events.iter().find(|(_, event)| matches!(event, Event::Closed { .. }));
        assert!(ended.is_none(), "seed {seed}, host {host}: {ended:?}");
        assert_eq!(user.received.len(), MESSAGES, "seed {seed}, host {host}");
        for (n, (_, got)) in user.received.iter().enumerate() {
            assert_eq!(
                got.payload,
                message(0, MESSAGES - 1 - n, 400).payload,
                "seed {seed}, host {host}, {n}"
            );
        }
    }
}

#[test]
fn everything_arrives_between_hosts_that_wander() {
    let seeds = std::env::var("WHIMBREL_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(40);
    for seed in 0..seeds {
        wander(seed);
    }
}
