//! Two networks that a node with Mobile IP hears, and the agents behind them.

use core::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use whimbrel_machine::{InterfaceId, InterfaceKind, Route, Seed};
use whimbrel_netsim::{HostId, LinkConfig, LinkId, Mixed, World};
use whimbrel_rivals::mobile_ip::{Attachment, ForeignAgent, HomeAgent, MobileNode};
use whimbrel_rivals::tcp::{Tcp, TcpCommand, TcpConfig, TcpEvent};

use crate::flow::{Flow, Rival, RivalUser, plain};
use crate::{Record, Tally, Uplink};

/// TCP over Mobile IP: a correspondent node with a home agent beside it, and a mobile node that hears two networks, each behind a foreign
/// agent. All wires meet in one router.
pub struct MobileIp<R: Record<TcpEvent, TcpCommand> = Tally> {
    /// Everything.
    pub world: World<Rival, RivalUser<R>>,
    /// The correspondent node, which sends.
    pub cn: HostId,
    /// The mobile node, which reads.
    pub mn: HostId,
    /// The home agent.
    pub home_agent: HostId,
    /// The wires of the correspondent node and of the home agent.
    pub near: [LinkId; 2],
    /// How the mobile node gets into each network; it is at the `b` end.
    pub radio: [Uplink; 2],
}

/// The correspondent node.
pub const CORRESPONDENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The mobile node's home agent.
pub const HOME_AGENT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
/// The address that the mobile node keeps.
pub const HOME: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 9);

/// The addresses of a network: care-of, the agent's on the air, the node's on the air.
pub fn network(number: u8) -> [Ipv4Addr; 3] {
    [1, 2, 3].map(|last| Ipv4Addr::new(10, 1, number, last))
}

impl<R: Record<TcpEvent, TcpCommand>> MobileIp<R> {
    /// Links are those near the router, the wires to the networks and the air there, alike in both directions. The mobile node prefers networks by
    /// their ranks. `sender` makes who uses the correspondent node, which calls by this route.
    pub fn new(
        seed: u64,
        config: TcpConfig,
        [near, wired, air]: [LinkConfig; 3],
        ranks: [u8; 2],
        sender: impl FnOnce(Route) -> Flow<R>,
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let config = Arc::new(config);
        let tcp = |number| Tcp::new(Arc::clone(&config), &Seed::from_u64(seed).child("host", number));
        let attachments = [0, 1].map(|number| {
            let [_, agent, local] = network(number);
            Attachment { local, agent, rank: ranks[usize::from(number)] }
        });
        let route = Route { local: plain(CORRESPONDENT), remote: plain(HOME) };
        let (correspondent, sender) = (Mixed::First(tcp(1)), Mixed::First(sender(route)));
        let cn = world.add_host("cn", Mixed::First(correspondent), Mixed::First(sender));
        let node = Mixed::Second(MobileNode::new(tcp(2), HOME, HOME_AGENT, attachments.to_vec()));
        let mn = world.add_host("mn", Mixed::First(node), Mixed::First(Mixed::Second(Flow::reader())));
        let home_agent = Mixed::First(HomeAgent::new(HOME_AGENT));
        let home_agent = world.add_host("home", Mixed::Second(home_agent), Mixed::Second(()));
        let core = world.add_router();
        let near = [(cn, vec![CORRESPONDENT]), (home_agent, vec![HOME_AGENT, HOME])].map(|(host, ips)| {
            let interface = world.add_interface(host, ips.into_iter().map(IpAddr::V4));
            world.add_link(interface, core, near, near)
        });
        let radio = [0, 1].map(|number| {
            let [care_of, agent, local] = network(number);
            let foreign = Mixed::Second(ForeignAgent::new(care_of, agent));
            let access = world.add_host("access", Mixed::Second(foreign), Mixed::Second(()));
            let wire = world.add_interface(access, [IpAddr::V4(care_of)]);
            world.add_link(core, wire, wired, wired);
            let antenna = world.add_interface(access, [IpAddr::V4(agent)]);
            let interface = world.add_interface(mn, [IpAddr::V4(local)]);
            let link = world.add_link(antenna, interface, air, air);
            let (number, kind) = (InterfaceId(number.into()), InterfaceKind::WirelessLan);
            Uplink { host: mn, link, interface, number, kind, address: plain(local) }
        });
        Self { world, cn, mn, home_agent, near, radio }
    }
}
