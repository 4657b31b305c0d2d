//! Two hosts that both move, at random: networks come and go with and without a word, links warn and lie, packets get lost, and now and
//! then a host has no network at all for a while. In the end everything must have arrived, once and in order.
//!
//! `WHIMBREL_SEEDS=2000 cargo test --release -p whimbrel-node handover_random` tries that many worlds.

use core::time::Duration;

use whimbrel_handover::{Failover, FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::{Instant, InterfaceFact, ReceivedPower, Rng, Seed};
use whimbrel_netsim::{LinkConfig, Loss};
use whimbrel_node::Node;
use whimbrel_proto::{Config, Event};

use whimbrel_testbed::{CLIENT, Pair, SERVER, User, link, message, uplink_address};

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

struct Wilderness {
    pair: Pair,
    /// By host.
    networks: [[Coverage; NETWORKS]; 2],
    rng: Rng,
}

/// A policy, by a number below 4.
fn policy(which: u64) -> Box<dyn Policy> {
    match which {
        0 => Box::new(Failover::policy(Pace::MOBILE)),
        1 => Box::new(FastestNetwork::policy(Pace::MOBILE)),
        _ => Box::new(Seamless::policy(Pace::MOBILE)),
    }
}

impl Wilderness {
    fn new(seed: u64) -> Self {
        let mut rng = Seed::from_u64(seed).stream("wilderness", 0);
        let [of_server, of_client] = [SERVER, CLIENT].map(|_| {
            let which = rng.below(4);
            let links = [(); NETWORKS].map(|()| {
                let config = link(5 + rng.below(20), 2 + rng.below(50));
                LinkConfig { loss: Loss::Bernoulli(rng.unit() * 0.05), ..config }
            });
            (which, links)
        });
        let which = [of_client.0, of_server.0];
        let mut users = [User::client(&[0, 1].map(|n| uplink_address(SERVER, n))), User::server()];
        users.iter_mut().for_each(|user| user.tick(Duration::from_millis(20), 400, MESSAGES));
        let uplinks = [(2, &of_client.1[..]), (2, &of_server.1[..])];
        let finish = |host: usize, node: Node| {
            let which = which[host];
            node.with_policy(move || policy(which))
        };
        let pair = Pair::around_router(seed, Config::mobile(), uplinks, users, finish);
        let networks = [Coverage::Present(Instant::ZERO), Coverage::Present(Instant::ZERO), Coverage::Absent];
        let mut wilderness = Self { pair, networks: [networks; 2], rng };
        let Pair { world, uplinks, .. } = &mut wilderness.pair;
        for uplinks in uplinks {
            uplinks[2].cut(world, Instant::ZERO);
            uplinks[..2].iter().for_each(|uplink| uplink.name(world, Instant::ZERO));
        }
        wilderness
    }

    fn now(&self) -> Instant {
        self.pair.world.now()
    }

    /// Whether the host has a network to rely on, other than `but`.
    fn settled(&self, host: usize, but: Option<usize>) -> bool {
        let now = self.now();
        let good =
            |coverage: &Coverage| matches!(coverage, Coverage::Present(since) if *since + SETTLED <= now);
        self.networks[host].iter().enumerate().any(|(n, coverage)| Some(n) != but && good(coverage))
    }

    fn about(&mut self, host: usize, network: usize, fact: InterfaceFact) {
        let now = self.now();
        self.pair.uplinks[host][network].about(&mut self.pair.world, now, fact);
    }

    fn enter(&mut self, host: usize, network: usize) {
        let (now, uplink) = (self.now(), self.pair.uplinks[host][network]);
        match self.networks[host][network] {
            Coverage::Absent => uplink.enter(&mut self.pair.world, now),
            Coverage::Present(_) | Coverage::Cut => uplink.heal(&mut self.pair.world, now),
        }
        self.networks[host][network] = Coverage::Present(now);
    }

    fn leave(&mut self, host: usize, network: usize) {
        let now = self.now();
        self.pair.uplinks[host][network].leave(&mut self.pair.world, now);
        self.networks[host][network] = Coverage::Absent;
    }

    fn cut(&mut self, host: usize, network: usize) {
        let now = self.now();
        self.pair.uplinks[host][network].cut(&mut self.pair.world, now);
        self.networks[host][network] = Coverage::Cut;
    }

    /// Something happens. What would leave both hosts unable to find each other does not: then nobody could.
    fn something(&mut self) {
        let host = self.rng.below(2) as usize;
        let network = self.rng.below(NETWORKS as u64) as usize;
        let other_stays = self.settled(1 - host, None);
        let can_go = self.settled(host, Some(network)) && other_stays;
        match (self.rng.below(8), self.networks[host][network]) {
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
        self.pair.world.run_until(until);
    }

    fn done(&self) -> bool {
        (0..2).all(|host| self.pair.user(host).received.len() == MESSAGES)
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
        let user = wilderness.pair.user(host);
        let ended = user.events.iter().find(|(_, event)| matches!(event, Event::Closed { .. }));
        assert!(ended.is_none(), "seed {seed}, host {host}: {ended:?}");
        assert_eq!(user.received.len(), MESSAGES, "seed {seed}, host {host}");
        for (n, (_, got)) in user.received.iter().enumerate() {
            assert_eq!(got.payload, message(0, n, 400).payload, "seed {seed}, host {host}, {n}");
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
