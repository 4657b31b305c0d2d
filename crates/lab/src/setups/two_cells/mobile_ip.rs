use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde::Deserialize;
use whimbrel_machine::{Instant, InterfaceId, InterfaceKind, LinkFact, Route, Seed};
use whimbrel_netsim::{App, CellEvent, Context, HostId, LinkConfig, Mixed, World};
use whimbrel_rivals::mobile_ip::{Attachment, ForeignAgent, HomeAgent, MobileNode, TUNNEL_BYTES};
use whimbrel_rivals::tcp::{File, Tcp, TcpCommand, TcpConfig, TcpEvent};
use whimbrel_testbed::Uplink;

use super::{Air, BEGIN, Journey, Way, Wires};
use crate::experiment::Watch;

type Machine = Mixed<Mixed<Tcp, MobileNode<Tcp>>, Mixed<HomeAgent, ForeignAgent>>;
type Commands<'a> = Context<'a, Mixed<Mixed<TcpCommand, TcpCommand>, Mixed<(), ()>>>;

const PORT: u16 = 80;
const CORRESPONDENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const HOME_AGENT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const HOME: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 9);

/// Where the home agent's tunnel ends (RFC 5944 section 1.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelEnd {
    /// At a foreign agent in the access router.
    AccessRouter,
    /// At the mobile node, whose care-of address is its own: the outer header is on the air, too.
    MobileNode,
}

/// A download over TCP by a node with Mobile IP: a home agent beside the correspondent node, a foreign agent in each access
/// router.
pub struct MobileIp {
    world: World<Machine, Ends>,
    cn: HostId,
    mn: HostId,
    radio: [Uplink; 2],
    air: Air,
    until: Instant,
    file: u64,
}

/// The users of the hosts.
#[derive(Default)]
struct Ends {
    /// What the correspondent node sends.
    file: Option<u64>,
    /// When the connection was there.
    began: Option<Instant>,
    received: u64,
    last: Option<Instant>,
}

fn at(ip: Ipv4Addr) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(ip), 0)
}

/// The addresses of a cell: care-of, the agent's on the air, the node's on the air.
fn network(cell: usize) -> [Ipv4Addr; 3] {
    [1, 2, 3].map(|last| Ipv4Addr::new(10, 1, cell as u8, last))
}

impl MobileIp {
    /// Sets it up.
    pub fn new(seed: u64, config: TcpConfig, wires: &Wires, tunnel: TunnelEnd, way: &Way, file: u64) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let config = Arc::new(config);
        let tcp = |number| Tcp::new(Arc::clone(&config), &Seed::from_u64(seed).child("host", number));
        let attachments = [0, 1].map(|cell| {
            let [_, agent, local] = network(cell);
            Attachment { local, agent, rank: 0 }
        });
        let sender = Ends { file: Some(file), ..Ends::default() };
        let cn = world.add_host("cn", Mixed::First(Mixed::First(tcp(1))), sender);
        let node = MobileNode::new(tcp(2), HOME, HOME_AGENT, attachments.to_vec());
        let mn = world.add_host("mn", Mixed::First(Mixed::Second(node)), Ends::default());
        let home = Mixed::Second(Mixed::First(HomeAgent::new(HOME_AGENT)));
        let home = world.add_host("home", home, Ends::default());
        let core = world.add_router();
        let near = LinkConfig { mtu: 1600, ..LinkConfig::default() };
        for (host, addresses) in [(cn, vec![CORRESPONDENT]), (home, vec![HOME_AGENT, HOME])] {
            let interface = world.add_interface(host, addresses.into_iter().map(IpAddr::V4));
            world.add_link(interface, core, near, near);
        }
        let radio = [0, 1].map(|cell| {
            let [care_of, link, local] = network(cell);
            let agent = Mixed::Second(Mixed::Second(ForeignAgent::new(care_of, link)));
            let host = world.add_host("access", agent, Ends::default());
            let wired = world.add_interface(host, [IpAddr::V4(care_of)]);
            world.add_link(core, wired, wires.wired(), wires.wired());
            let access = world.add_interface(host, [IpAddr::V4(link)]);
            let mobile = world.add_interface(mn, [IpAddr::V4(local)]);
            // Between agent and node our agents always send with an outer header.
            let unheard = match tunnel {
                TunnelEnd::AccessRouter => TUNNEL_BYTES,
                TunnelEnd::MobileNode => 0,
            };
            let air = wires.radio(TUNNEL_BYTES, unheard);
            let link = world.add_link(access, mobile, air, air);
            let (number, kind) = (InterfaceId(cell as u32), InterfaceKind::WirelessLan);
            Uplink { host: mn, link, interface: mobile, number, kind, address: at(local) }
        });
        let (air, ear) = super::listen([0, 1].map(|cell| IpAddr::V4(network(cell)[2])));
        world.set_intruder(Some(ear));
        let mut this = Self { world, cn, mn, radio, air, until: way.until, file };
        this.follow(way);
        this
    }

    fn follow(&mut self, way: &Way) {
        let world = &mut self.world;
        self.radio[1].cut(world, Instant::ZERO);
        for &(at, cell, event) in &way.events {
            let radio = self.radio[cell];
            match event {
                CellEvent::Signal(_) => {}
                CellEvent::Attached => radio.heal(world, at),
                CellEvent::Addressed => radio.tell(world, at, LinkFact::AddressUp(radio.address)),
                CellEvent::Lost => radio.leave(world, at),
            }
        }
    }

    /// Runs until the file is there, or the way ends.
    pub fn run(mut self, watch: Watch) -> Journey {
        let _ =
            watch.record(&mut self.world, &[(self.radio[0].link, "cell 0"), (self.radio[1].link, "cell 1")]);
        let (mn, file) = (self.mn, self.file);
        self.world.run_until_or(self.until, |world| world.app(mn).received >= file);
        let _ = self.world.finish();
        let user = self.world.app(mn);
        let began = self.world.app(self.cn).began;
        let done = user.last.filter(|_| user.received >= file);
        Journey::over(&self.world, self.radio, &self.air, (began, done))
    }
}

impl App<Machine> for Ends {
    fn on_start(&mut self, context: &mut Commands<'_>) {
        if self.file.is_some() {
            context.wake_at(BEGIN, 0);
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Commands<'_>) {
        let route = Route { local: at(CORRESPONDENT), remote: at(HOME) };
        let source = Box::new(File(self.file.unwrap_or_default()));
        context.command(Mixed::First(Mixed::First(TcpCommand::Open { route, port: PORT, source })));
    }

    fn on_event(
        &mut self,
        event: Mixed<Mixed<TcpEvent, TcpEvent>, Mixed<(), ()>>,
        context: &mut Commands<'_>,
    ) {
        match event {
            Mixed::First(Mixed::First(TcpEvent::Established { .. })) => self.began = Some(context.now()),
            Mixed::First(Mixed::Second(TcpEvent::Received { bytes, .. })) => {
                self.received += bytes;
                self.last = Some(context.now());
            }
            _ => {}
        }
    }
}
