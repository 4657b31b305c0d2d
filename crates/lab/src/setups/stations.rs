use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::{Aisle, AisleParameters, Pace, Reason};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Dcf, DcfConfig, HostId, LinkConfig, LinkId, Phy, Side, Umts, UmtsConfig, World};
use whimbrel_node::Node;
use whimbrel_proto::Config;

use super::User;
use super::traffic::Greedy;

/// What the stations of an access network share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Air {
    /// A cell of IEEE 802.11.
    Cell(Phy),
    /// A common channel of UMTS in each direction, where so many packets of each user may wait.
    CommonChannel(usize),
}

/// An access network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// What its stations share.
    pub air: Air,
    /// One way, beside the air and the wire.
    pub delay: Duration,
}

/// A station comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When its download begins.
    pub at: Instant,
    /// The access network that is its first, 0 or 1.
    pub first: usize,
}

/// b08's stations (section 4.2.2.4): each is in both access networks and downloads for ever, from a correspondent node of its own behind one wire for all. Paths are chosen by the
/// correspondent nodes, which send.
pub struct Stations {
    /// Everything.
    pub world: World<Node, User>,
    /// Of each station, its correspondent node, the station and when it came.
    all: Vec<Station>,
    /// The wire.
    pub wire: LinkId,
}

struct Station {
    cn: HostId,
    host: HostId,
    arrival: Arrival,
}

/// Bytes that a source keeps with the transport: more than a receive window.
const BACKLOG: usize = 256 << 10;
/// User data of a packet of 1500 bytes.
const MESSAGE: usize = 1452;

const fn address(network: u8, station: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, network, (station / 250) as u8, (station % 250) as u8 + 1))
}

/// Of a correspondent node.
const CN: u8 = 9;

impl Stations {
    /// Sets them up. `aisle` is what correspondent nodes go by; without it stations stay where they begin unless that fails.
    pub fn new(
        seed: u64,
        config: &Config,
        aisle: Option<AisleParameters>,
        access: [Access; 2],
        wire: LinkConfig,
        arrivals: &[Arrival],
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let config = Arc::new(config.clone());
        let (core, hub) = (world.add_router(), world.add_router());
        let wire = world.add_link(core, hub, wire, wire);
        let points = access.map(|Access { delay, .. }| {
            let point = world.add_router();
            let behind = LinkConfig { delay, ..LinkConfig::default() };
            world.add_link(hub, point, behind, behind);
            point
        });
        let cable = LinkConfig::default();
        let (mut all, mut links) = (Vec::new(), [Vec::new(), Vec::new()]);
        for (number, &arrival) in arrivals.iter().enumerate() {
            let socket = |network: u8| SocketAddr::new(address(network, number), 0);
            let seeds = |end: u64| world.seed().child("host", 2 * number as u64 + end);
            let mut node = Node::new(Arc::clone(&config), seeds(0), vec![socket(CN)]);
            if let Some(parameters) = aisle {
                let seed = seeds(0);
                node = node.with_policy(move || {
                    let draws = seed.stream(Aisle::STREAM, 0);
                    Box::new(Aisle::policy(parameters, Pace::MOBILE, draws))
                });
            }
            let station = Node::new(Arc::clone(&config), seeds(1), [0, 1].map(socket).to_vec());
            let peer = [arrival.first as u8, 1 - arrival.first as u8].map(socket).to_vec();
            let source = Box::new(Greedy::new(MESSAGE, BACKLOG));
            let cn = world.add_host("cn", node, User::sender(arrival.at, peer, source));
            let host = world.add_host("station", station, User::reader());
            let far = world.add_interface(cn, [address(CN, number)]);
            world.add_link(far, core, cable, cable);
            for (network, point) in (0_u8..).zip(points) {
                let near = world.add_interface(host, [address(network, number)]);
                links[usize::from(network)].push(world.add_link(point, near, cable, cable));
            }
            all.push(Station { cn, host, arrival });
        }
        for (network, (Access { air, .. }, links)) in access.into_iter().zip(&links).enumerate() {
            share(&mut world, air, links, network as u64);
        }
        Self { world, all, wire }
    }

    /// Lets time pass until then.
    pub fn run_until(&mut self, at: Instant) {
        self.world.run_until(at);
    }

    /// How many stations are there.
    pub fn present(&self) -> usize {
        self.all.iter().filter(|station| station.arrival.at <= self.world.now()).count()
    }

    /// How many of them have their primary path over a network.
    pub fn on(&self, network: usize) -> usize {
        let there = self.all.iter().filter(|station| station.arrival.at <= self.world.now());
        there.enumerate().filter(|(number, station)| self.network_of(*number, station) == network).count()
    }

    fn network_of(&self, number: usize, station: &Station) -> usize {
        let paths = self.world.app(station.cn).paths(self.world.machine(station.cn));
        let primary = paths.iter().find(|path| path.primary).map(|path| path.route.remote.ip());
        match primary {
            Some(ip) => usize::from(ip == address(1, number)),
            None => station.arrival.first,
        }
    }

    /// Bytes of user data that all stations have so far.
    pub fn delivered(&self) -> u64 {
        self.all.iter().map(|station| self.world.app(station.host).record.received).sum()
    }

    /// How often correspondent nodes have swapped paths for congestion.
    pub fn swaps(&self) -> usize {
        let swaps = |station: &Station| {
            let decided = self.world.machine(station.cn).decisions();
            decided.filter(|decided| decided.decision.reason == Reason::Congested).count()
        };
        self.all.iter().map(swaps).sum()
    }
}

/// Has the links of an access network share its air.
fn share(world: &mut World<Node, User>, air: Air, links: &[LinkId], id: u64) {
    let seed = world.seed().clone();
    let each = || links.iter().copied().enumerate();
    match air {
        Air::Cell(phy) => {
            let down = links.iter().map(|&link| (link, Side::AtoB, links.len()));
            let up = each().map(|(station, link)| (link, Side::BtoA, station));
            let cell = Dcf::new(DcfConfig::cell(phy, links.len()), &seed, id);
            world.share(cell, down.chain(up).collect::<Vec<_>>());
        }
        Air::CommonChannel(queue) => {
            for (side, id) in [(Side::AtoB, 2 * id), (Side::BtoA, 2 * id + 1)] {
                let channel = UmtsConfig { queue, ..UmtsConfig::common_channel(links.len()) };
                let channel = Umts::new(channel, &seed, id);
                world.share(channel, each().map(|(user, link)| (link, side, user)).collect::<Vec<_>>());
            }
        }
    }
}
