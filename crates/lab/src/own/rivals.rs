//! What stands beside SCTP: hosts that speak TCP, and those that carry it over Mobile IP.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{HostId, LinkConfig, Mixed};
use whimbrel_rivals::mobile_ip::{Attachment, ForeignAgent, HomeAgent, MobileNode, TUNNEL_BYTES};
use whimbrel_rivals::tcp::{Tcp, TcpConfig};
use whimbrel_testbed::{Flow, Opening, Rival, RivalUser, SCTP_PORT, Silence, Tally, plain};

use super::residents::{Beginning, address, socket};
use super::traffic::End;
use super::world::{Place, START};

/// How often a host has registered with its home agent in another network than before, if it does.
pub(super) const fn moves(rival: &Rival) -> Option<u64> {
    match rival {
        Mixed::First(Mixed::Second(node)) => Some(node.stats().moves),
        _ => None,
    }
}

/// The home agent of a host, and the host's home address.
const fn home(host: u8) -> [Ipv4Addr; 2] {
    [Ipv4Addr::new(172, 16, host, 1), Ipv4Addr::new(172, 16, host, 9)]
}

/// The care-of address of a host in a network, and how the host finds the foreign agent there.
const fn agent(host: u8, network: usize) -> [Ipv4Addr; 2] {
    let network = network as u8;
    [Ipv4Addr::new(172, 17, host, network), Ipv4Addr::new(172, 18, host, network)]
}

impl Place<'_> {
    /// A host that speaks TCP and its correspondent node, the latter first.
    pub(super) fn add_tcp(&mut self, number: u8, beginning: &Beginning<'_>) -> [HostId; 2] {
        let remote = beginning.local.first().copied().unwrap_or(socket(address(number, 0)));
        let config = Arc::new(TcpConfig::default());
        let [cn, mn] = self.tcp_of(number, &config);
        let [cn_flow, mn_flow] = flows(beginning, remote).map(Mixed::First);
        [
            self.add("cn", Mixed::First(Mixed::First(cn)), Mixed::First(cn_flow)),
            self.add("tcp", Mixed::First(Mixed::First(mn)), Mixed::First(mn_flow)),
        ]
    }

    /// A host with Mobile IP and its correspondent node, the latter first. Its home agent is beside that, and a foreign agent where
    /// each of its networks begins, so that tunnels cross them.
    pub(super) fn add_mobile_ip(
        &mut self,
        number: u8,
        networks: &[usize],
        beginning: &Beginning<'_>,
    ) -> [HostId; 2] {
        let [home_agent, home_address] = home(number);
        // So that a full segment fits into the tunnel.
        let usual = TcpConfig::default();
        let config = Arc::new(TcpConfig { mss: usual.mss - TUNNEL_BYTES as u16, ..usual });
        let [cn, mn] = self.tcp_of(number, &config);
        let attachments = networks.iter().map(|&network| {
            let local = match address(number, network) {
                IpAddr::V4(local) => local,
                IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
            };
            Attachment { local, agent: agent(number, network)[1], rank: self.networks[network].plan.rank }
        });
        let node = MobileNode::new(mn, home_address, home_agent, attachments.collect());
        let [cn_flow, mn_flow] = flows(beginning, plain(home_address));
        let hosts = [
            self.add("cn", Mixed::First(Mixed::First(cn)), Mixed::First(Mixed::First(cn_flow))),
            self.add("mn", Mixed::First(Mixed::Second(node)), Mixed::First(Mixed::Second(mn_flow))),
        ];
        let agent_of_home = Mixed::First(HomeAgent::new(home_agent));
        self.add_agent("home agent", agent_of_home, &[&[home_agent, home_address]]);
        for &network in networks {
            let [care_of, link] = agent(number, network);
            let foreign = Mixed::Second(ForeignAgent::new(care_of, link));
            self.add_agent("foreign agent", foreign, &[&[care_of], &[link]]);
        }
        hosts
    }

    fn add(&mut self, name: &str, rival: Rival, user: RivalUser) -> HostId {
        self.world.add_host(name, Mixed::Second(rival), Mixed::Second(user))
    }

    fn tcp_of(&self, number: u8, config: &Arc<TcpConfig>) -> [Tcp; 2] {
        [1, 2].map(|end| {
            let seed = self.world.seed().child("tcp", 2 * u64::from(number) + end);
            Tcp::new(Arc::clone(config), &seed)
        })
    }

    /// An agent where everybody meets, with an interface for each group of addresses.
    fn add_agent(&mut self, name: &str, agent: Mixed<HomeAgent, ForeignAgent>, interfaces: &[&[Ipv4Addr]]) {
        let host = self.add(name, Mixed::Second(agent), Mixed::Second(()));
        // Tunnels make packets longer.
        let near = LinkConfig { mtu: LinkConfig::default().mtu + TUNNEL_BYTES, ..LinkConfig::default() };
        for addresses in interfaces {
            let interface = self.world.add_interface(host, addresses.iter().copied().map(IpAddr::V4));
            self.world.add_link(interface, self.core, near, near);
        }
    }
}

/// The flows of a correspondent node and of a host that it knows by `remote`.
fn flows(beginning: &Beginning<'_>, remote: SocketAddr) -> [Flow; 2] {
    let Beginning { traffic, begins: start, .. } = *beginning;
    let local = beginning.remote.first().copied().unwrap_or(remote);
    let (route, sources) = (Route { local, remote }, vec![traffic.tcp_source(start)]);
    let sender = |route| Flow::sender(Opening { start, route, port: SCTP_PORT, sources });
    let mut reader = Flow::<Tally>::reader();
    reader.record.silence = Silence::from(Instant::ZERO + START);
    match traffic.from {
        End::Cn => [sender(route), reader],
        End::Mn => [reader, sender(route.reversed())],
    }
}
