//! The hosts of a scenario file.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::{Failover, FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::{Cost, Instant, InterfaceFact, InterfaceId, LinkFact, Rng, Route};
use whimbrel_netsim::{Action, CellEvent, Change, HostId, InFlight, LinkConfig, LinkId, Mixed, Side};
use whimbrel_node::Node;
use whimbrel_proto::Config;
use whimbrel_rivals::tcp::{Tcp, TcpConfig};

use super::file::{File, Host, HostKind, PolicyName};
use super::flow::Flow;
use super::motion::Motion;
use super::traffic::{End, Traffic};
use super::world::{Place, START, after};
use crate::testbed::{TransferTimes, User};

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
    /// Where it is, by the number of the network, and by which link.
    links: Vec<(usize, LinkId)>,
}

/// From the networks to a correspondent node, one way. No network has to wait for it.
const CORRESPONDENT: Duration = Duration::from_millis(1);

/// A host's address in a network.
pub(super) const fn address(host: u8, network: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, host, network as u8, 2))
}

/// The address of a host's correspondent node.
const fn correspondent(host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, host + 1))
}

pub(super) const fn socket(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, 0)
}

fn policy(name: PolicyName) -> Option<Box<dyn Policy>> {
    match name {
        PolicyName::Seamless => Some(Box::new(Seamless::policy(Pace::MOBILE))),
        PolicyName::Failover => Some(Box::new(Failover::policy(Pace::MOBILE))),
        PolicyName::FastestNetwork => Some(Box::new(FastestNetwork::policy(Pace::MOBILE))),
        PolicyName::Rfc => None,
    }
}

/// Some time in the second before the start, unless the file has one.
fn begins(traffic: &Traffic, mut random: Rng) -> Instant {
    match traffic.start {
        None => Instant::ZERO + random.duration_below(START),
        Some(start) => Instant::ZERO + START + after(start + traffic.spread * random.unit()),
    }
}

/// What a mobile host begins with.
struct Beginning<'a> {
    traffic: &'a Traffic,
    begins: Instant,
    /// Its addresses where it is heard, the best first.
    local: Vec<SocketAddr>,
}

impl<'a> Resident<'a> {
    pub(super) fn is_in(&self, network: usize) -> bool {
        self.links.iter().any(|&(at, _)| at == network)
    }
}

impl<'a> Place<'a> {
    /// Adds a host with its correspondent node, its links and its traffic.
    pub(super) fn settle(
        &mut self,
        file: &'a File,
        number: u8,
        name: &'a str,
        host: &'a Host,
        with: PolicyName,
    ) {
        let Some(traffic) = file.traffic_of(host) else { return };
        let motion = file.motion_of(host);
        let at: Vec<usize> =
            (0..self.networks.len()).filter(|&network| host.is_in(self.networks[network].name)).collect();
        let heard = |network: &&usize| self.networks[**network].plan.is_heard_at_first(motion);
        let local: Vec<SocketAddr> =
            at.iter().filter(heard).map(|&network| socket(address(number, network))).collect();
        let begins = begins(traffic, self.world.seed().stream("traffic.start", number.into()));
        let beginning = Beginning { traffic, begins, local };
        let [cn, mn] = match host.kind {
            HostKind::Mobile => self.add_mobile(number, beginning, with),
            HostKind::Tcp => self.add_tcp(number, beginning),
        };
        let far = self.world.add_interface(cn, [correspondent(number)]);
        let cable = LinkConfig { delay: CORRESPONDENT, ..LinkConfig::default() };
        self.world.add_link(far, self.core, cable, cable);
        let mut links = Vec::new();
        for network in at {
            let near = self.world.add_interface(mn, [address(number, network)]);
            let wire = LinkConfig::default();
            links.push((network, self.world.add_link(self.networks[network].router, near, wire, wire)));
        }
        let [sender, reader] = if traffic.from == End::Cn { [cn, mn] } else { [mn, cn] };
        let resident =
            Resident { name, kind: host.kind, traffic, sender, reader, begins, before: 0, number, mn, links };
        if host.kind == HostKind::Mobile {
            self.introduce(&resident);
            if let Some(motion) = motion {
                self.follow(&resident, motion);
            }
        }
        self.residents.push(resident);
    }

    /// A mobile node and its correspondent node, the latter first.
    fn add_mobile(&mut self, number: u8, beginning: Beginning<'_>, with: PolicyName) -> [HostId; 2] {
        let mut config = if with == PolicyName::Rfc { Config::rfc() } else { Config::mobile() };
        config.limits.send_buffer = 1 << 30;
        let config = Arc::new(config);
        let Beginning { traffic, begins, local } = beginning;
        let cn_address = vec![socket(correspondent(number))];
        let seed = |end: u64| self.world.seed().child("host", 2 * u64::from(number) + end);
        let cn = Node::new(Arc::clone(&config), seed(1), cn_address.clone());
        let mut mn = Node::new(config, seed(2), local.clone());
        if policy(with).is_some() {
            mn = mn.with_policy(move || policy(with).expect("asked before"));
        }
        let (source, schedule) = traffic.source();
        let mut reader = User::reader();
        if let Some(schedule) = schedule {
            reader = reader.timing(TransferTimes::new(schedule, traffic.deadline(), self.end));
        }
        let users = match traffic.from {
            End::Cn => [User::sender(begins, local, source), reader],
            End::Mn => [reader, User::sender(begins, cn_address, source)],
        };
        let [cn_user, mn_user] = users.map(Mixed::First);
        [
            self.world.add_host("cn", Mixed::First(cn), cn_user),
            self.world.add_host("mn", Mixed::First(mn), mn_user),
        ]
    }

    /// A host that speaks TCP and its correspondent node, the latter first.
    fn add_tcp(&mut self, number: u8, beginning: Beginning<'_>) -> [HostId; 2] {
        let config = Arc::new(TcpConfig::default());
        let Beginning { traffic, begins, local } = beginning;
        let mut route = Route {
            local: socket(correspondent(number)),
            remote: local.first().copied().unwrap_or(socket(address(number, 0))),
        };
        if traffic.from == End::Mn {
            route = route.reversed();
        }
        let flows = [Flow::sender(begins, route, traffic.tcp_source()), Flow::reader()];
        let flows = match (traffic.from, flows) {
            (End::Cn, flows) => flows,
            (End::Mn, [sender, reader]) => [reader, sender],
        };
        let mut end = 0;
        flows.map(|flow| {
            end += 1;
            let seed = self.world.seed().child("tcp", 2 * u64::from(number) + end);
            let machine = Mixed::Second(Tcp::new(Arc::clone(&config), &seed));
            self.world.add_host(["cn", "tcp"][end as usize - 1], machine, Mixed::Second(flow))
        })
    }

    /// Tells a mobile node what its networks are.
    fn introduce(&mut self, resident: &Resident<'_>) {
        for &(network, _) in &resident.links {
            let interface = InterfaceId(network as u32);
            let plan = self.networks[network].plan;
            let cost = if plan.metered { Cost::Metered } else { Cost::Flat };
            // Of a network that has a cell, motion says whether it is up.
            let up = plan.cell.is_none().then(|| InterfaceFact::Up(plan.interface_kind()));
            let rest = [
                InterfaceFact::Rank(plan.rank),
                InterfaceFact::Rate((plan.rate * 1e6) as u64),
                InterfaceFact::Cost(cost),
            ];
            let address = address(resident.number, network);
            self.fact(resident.mn, Instant::ZERO, LinkFact::AddressOn { interface, address });
            for fact in up.into_iter().chain(rest) {
                self.fact(resident.mn, Instant::ZERO, LinkFact::Interface { interface, fact });
            }
        }
    }

    /// Turns the way of a mobile node into changes of its links and facts.
    fn follow(&mut self, resident: &Resident<'_>, motion: &Motion) {
        let way = motion.way(self.lasts, &mut self.world.seed().stream("motion", resident.number.into()));
        let down = Change::Down(InFlight::Lost);
        for &(network, link) in &resident.links {
            let plan = self.networks[network].plan;
            let Some(cell) = &plan.cell else { continue };
            self.world.schedule_link(link, Side::Both, [(Instant::ZERO, down)]);
            let interface = InterfaceId(network as u32);
            let own = socket(address(resident.number, network));
            let of = |fact| LinkFact::Interface { interface, fact };
            for (at, event) in cell.events(&way, self.lasts) {
                // What is so at first has long been so; the node moves from the start on.
                let at = if at == Instant::ZERO { at } else { at + START };
                match event {
                    CellEvent::Signal(power) => {
                        self.fact(resident.mn, at, of(InterfaceFact::Signal(power)));
                    }
                    CellEvent::Attached => {
                        self.fact(resident.mn, at, of(InterfaceFact::Up(plan.interface_kind())));
                        self.fact(resident.mn, at, of(InterfaceFact::HandoverComplete));
                        self.world.schedule(at, Action::Link(link, Side::Both, Change::Up));
                    }
                    CellEvent::Addressed => self.fact(resident.mn, at, LinkFact::AddressUp(own)),
                    CellEvent::Lost => {
                        self.fact(resident.mn, at, LinkFact::AddressDown(own));
                        self.fact(resident.mn, at, of(InterfaceFact::Down));
                        self.world.schedule(at, Action::Link(link, Side::Both, down));
                    }
                }
            }
        }
    }

    pub(super) fn fact(&mut self, host: HostId, at: Instant, fact: LinkFact) {
        self.world.schedule(at, Action::Fact(host, fact));
    }
}
