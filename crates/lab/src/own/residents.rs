//! The hosts of a scenario file.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, InterfaceId, Rng, Route};
use whimbrel_netsim::{HostId, LinkConfig, Mixed};
use whimbrel_node::Node;
use whimbrel_proto::{Config, FreshPath};
use whimbrel_testbed::Uplink;

use super::file::{File, Host, HostKind};
use super::policies::{Chosen, Kind};
use super::profile;
use super::traffic::{End, Traffic};
use super::world::{Access, Place, START, after};
use crate::setups::{TransferTimes, User};

/// A host in the access networks, with what the file says of it.
pub(super) struct Resident<'a> {
    /// Empty if the file names no hosts.
    pub(super) name: &'a str,
    pub(super) kind: HostKind,
    pub(super) traffic: &'a Traffic,
    /// Who sends and who reads: it, or its correspondent node.
    pub(super) sender: HostId,
    pub(super) reader: HostId,
    /// When its traffic is to begin.
    pub(super) begins: Instant,
    /// Bytes delivered before the experiment begins.
    pub(super) before: u64,
    pub(super) number: u8,
    pub(super) mn: HostId,
    /// Where it is, by the number of the network, and how it gets there.
    pub(super) links: Vec<(usize, Uplink)>,
}

/// Of SCTP in UDP (RFC 6951): a NAT box knows no SCTP.
const UDP: u16 = 9899;

/// From the networks to a correspondent node, one way. No network has to wait for it.
const CORRESPONDENT: Duration = Duration::from_millis(1);

/// A host's address in a network.
pub(super) const fn address(host: u8, network: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, host, network as u8, 2))
}

/// What stands for that beyond a NAT box.
const fn translated(host: u8, network: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(198, 18, host, network as u8))
}

pub(super) const fn socket(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, 0)
}

/// Some time in the second before the start, unless the file has one.
fn begins(traffic: &Traffic, mut random: Rng) -> Instant {
    match traffic.start {
        None => Instant::ZERO + random.duration_below(START),
        Some(start) => Instant::ZERO + START + after(start + traffic.spread * random.unit()),
    }
}

/// What a host begins with.
pub(super) struct Beginning<'a> {
    pub(super) traffic: &'a Traffic,
    pub(super) begins: Instant,
    /// Its addresses where it is heard, the best first.
    pub(super) local: Vec<SocketAddr>,
    /// Those of its correspondent node, in the same order; one, or one for each network.
    pub(super) remote: Vec<SocketAddr>,
}

impl<'a> Resident<'a> {
    /// How it gets into a network, if it does.
    pub(super) fn uplink(&self, network: usize) -> Option<Uplink> {
        self.links.iter().find(|(at, _)| *at == network).map(|&(_, uplink)| uplink)
    }

    /// The network that a path of its association crosses: its own address is that of the sender, or where that sends to.
    pub(super) fn network_of(&self, route: Route) -> Option<usize> {
        let own = if self.sender == self.mn { route.local } else { route.remote };
        let is_own = |network| [address, translated].map(|of| of(self.number, network)).contains(&own.ip());
        self.links.iter().map(|&(network, _)| network).find(|&network| is_own(network))
    }
}

impl<'a> Place<'a> {
    /// Adds a host with its correspondent node, its links and its traffic. `with` names its policy.
    pub(super) fn settle(
        &mut self,
        file: &'a File,
        number: u8,
        name: &'a str,
        host: &'a Host,
        with: &str,
    ) -> Result<(), String> {
        let Some(traffic) = file.traffic_of(host) else { return Ok(()) };
        let at: Vec<usize> =
            (0..self.networks.len()).filter(|&network| host.is_in(self.networks[network].name)).collect();
        let contacts = self.contacts(file, number, host, &at);
        let there = |network: &&usize| !contacts.iter().any(|contact| contact.is_missing_at_first(**network));
        let port = if at.iter().any(|&network| self.networks[network].plan.nat.is_some()) { UDP } else { 0 };
        let local = at.iter().filter(there).map(|&network| SocketAddr::new(address(number, network), port));
        let begins = begins(traffic, self.world.seed().stream("traffic.start", number.into()));
        let correspondent = self.correspondent(number, &at);
        let remote = correspondent.iter().map(|&(ip, _)| SocketAddr::new(ip, port)).collect();
        let beginning = Beginning { traffic, begins, local: local.collect(), remote };
        let [cn, mn] = if host.kind == HostKind::Tcp {
            self.add_tcp(number, &beginning)
        } else {
            let chosen = Chosen::named(file, with, "policies")?;
            if chosen.kind == Kind::MobileIp {
                self.add_mobile_ip(number, &at, &beginning)
            } else {
                let mut config = profile::config(file, host, name, &chosen, with)?;
                config.fresh_paths = self.fresh_paths(number, &at, &config, with)?;
                self.add_mobile(number, &beginning, chosen, config)
            }
        };
        let cable = LinkConfig { delay: CORRESPONDENT, ..LinkConfig::default() };
        for (ip, router) in correspondent {
            let far = self.world.add_interface(cn, [ip]);
            self.world.add_link(far, router, cable, cable);
        }
        let mut links = Vec::new();
        for network in at {
            let Access { plan, router, .. } = self.networks[network];
            // With the port of UDP in which its SCTP runs.
            let address = SocketAddr::new(address(number, network), port);
            let interface = self.world.add_interface(mn, [address.ip()]);
            let link = self.world.add_link(router, interface, LinkConfig::default(), LinkConfig::default());
            if let Some(idle) = plan.nat {
                self.world.add_nat(interface, translated(number, network), after(idle));
            }
            let (called, kind) = (InterfaceId(network as u32), plan.interface_kind());
            links.push((network, Uplink { host: mn, link, interface, number: called, kind, address }));
        }
        let [sender, reader] = if traffic.from == End::Cn { [cn, mn] } else { [mn, cn] };
        let kind = host.kind;
        let resident = Resident { name, kind, traffic, sender, reader, begins, before: 0, number, mn, links };
        if host.kind == HostKind::Mobile {
            self.introduce(&resident);
            self.follow(&resident, &contacts);
        }
        self.residents.push(resident);
        Ok(())
    }

    /// What fresh paths over a host's addresses begin with, by the names that either end has for those.
    fn fresh_paths(
        &self,
        number: u8,
        networks: &[usize],
        config: &Config,
        policy: &str,
    ) -> Result<Vec<FreshPath>, String> {
        let mut all = Vec::new();
        for &network in networks {
            let Access { name, plan, .. } = &self.networks[network];
            for address in [address, translated].map(|of| of(number, network)) {
                all.extend(profile::fresh_path((name, plan), address, config, policy)?);
            }
        }
        Ok(all)
    }

    /// A mobile node and its correspondent node, the latter first.
    fn add_mobile(
        &mut self,
        number: u8,
        beginning: &Beginning<'_>,
        chosen: Chosen,
        config: Config,
    ) -> [HostId; 2] {
        let config = Arc::new(config);
        let &Beginning { traffic, begins, ref local, ref remote } = beginning;
        let seed = |end: u64| self.world.seed().child("host", 2 * u64::from(number) + end);
        let mut cn = Node::new(Arc::clone(&config), seed(1), remote.clone());
        let mut mn = Node::new(config, seed(2), local.clone());
        // Paths are the sender's to choose, wherever that is; addresses are the mobile node's.
        if chosen.kind == Kind::Aisle {
            let (chosen, seed) = (chosen.clone(), seed(1));
            cn = cn.with_policy(move || chosen.policy(&seed).expect("it is one"));
        }
        if chosen.policy(&seed(2)).is_some() {
            let seed = seed(2);
            mn = mn.with_policy(move || chosen.policy(&seed).expect("asked before"));
        }
        let (source, schedule) = traffic.source(begins);
        let timed = |reader: User| {
            let start = Instant::ZERO + START;
            let reader = reader.hearing(start);
            match schedule {
                Some(schedule) => {
                    reader.timing(TransferTimes::new(schedule, traffic.deadline(), start..=self.end))
                }
                None => reader,
            }
        };
        let users = match traffic.from {
            // Nobody is let in who has not been asked: who is behind a NAT box asks for what it gets.
            End::Cn if remote.iter().any(|address| address.port() != 0) => {
                [User::replier(source), timed(User::opener(begins, remote.clone()))]
            }
            End::Cn => [User::sender(begins, local.clone(), source), timed(User::reader())],
            End::Mn => [timed(User::reader()), User::sender(begins, remote.clone(), source)],
        };
        let [cn_user, mn_user] = users.map(Mixed::First);
        [
            self.world.add_host("cn", Mixed::First(cn), cn_user),
            self.world.add_host("mn", Mixed::First(mn), mn_user),
        ]
    }
}
