//! How the hosts are joined.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::Policy;
use whimbrel_machine::{InterfaceId, InterfaceKind, Seed};
use whimbrel_netsim::{HostId, LinkConfig, Overheard, QueueLimit, World};
use whimbrel_node::Node;
use whimbrel_proto::Config;
use whimbrel_testbed::traffic::{Greedy, Traffic};
use whimbrel_testbed::{SipHost, SipParts, SipRole, SipUser, Uplink, User, blank};
use whimbrel_ufa::sip::{HardwareAddress, SIP_PORT, SipConfig};
use whimbrel_ufa::{
    Access, ClearSip, Correspondent, Gateway, GatewayConfig, Order, Patience, Release, Resources, Terminal,
    TerminalConfig, Transition,
};

use super::super::random;
use super::{Arrivals, BEGIN, Gateways, SipWorld};

/// Bytes of a message.
const MESSAGE: usize = 1452;
/// Bytes handed over and not acknowledged: more than the receive windows of the paper.
const BACKLOG: usize = 1 << 20;
/// Addresses that a gateway has for terminals.
const ADDRESSES: u8 = 32;

/// The links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Air {
    /// bit/s between the correspondent and each gateway.
    pub wired_rate: f64,
    /// One way.
    pub wired_delay: Duration,
    /// bit/s between a gateway and the terminal.
    pub radio_rate: f64,
    /// One way.
    pub radio_delay: Duration,
    /// Probability that a packet is lost there.
    pub loss: f64,
    /// What waits in front of the radio.
    pub queue: QueueLimit,
}

/// Who decides when the terminal moves, and what is known of it.
pub enum Control {
    /// The terminal, by a policy.
    Terminal(Box<dyn Fn() -> Box<dyn Policy> + Send>),
    /// The network, and this is what the correspondent makes of it.
    Network(Box<dyn Transition>, Order),
}

/// The SCTP of both ends.
#[derive(Clone, Debug)]
pub struct Correspondence {
    /// Of the correspondent.
    pub correspondent: Config,
    /// Of the terminal.
    pub terminal: Config,
}

/// The terminal's address number `n` at a gateway; it has number 0 of gateway 0 to begin with.
pub fn terminal_address(gateway: usize, n: u8) -> SocketAddr {
    let ip = Ipv4Addr::new(10, gateway as u8 + 1, 0, 2 + n % ADDRESSES);
    SocketAddr::new(IpAddr::V4(ip), 0)
}

/// A gateway's SIP address.
pub(super) fn gateway_address(gateway: usize) -> SocketAddr {
    SocketAddr::from(([10, gateway as u8 + 1, 0, 1], SIP_PORT))
}

/// Whether this is one of the terminal's addresses.
pub(super) fn is_terminal(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.octets()[0] == 10 && ip.octets()[1] > 0 && ip.octets()[3] > 1)
}

/// The correspondent's address.
pub fn correspondent() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 0))
}

fn with_port(address: SocketAddr, port: u16) -> SocketAddr {
    SocketAddr::new(address.ip(), port)
}

impl Air {
    fn wired(&self) -> LinkConfig {
        let rate_bps = Some(self.wired_rate as u64);
        LinkConfig { rate_bps, delay: self.wired_delay, ..LinkConfig::default() }
    }

    fn radio(&self) -> LinkConfig {
        let rate_bps = Some(self.radio_rate as u64);
        let (queue, loss) = (self.queue, random(self.loss));
        LinkConfig { rate_bps, delay: self.radio_delay, queue, loss, ..LinkConfig::default() }
    }

    /// What a gateway has. Its buffer has room for what waits in front of the radio.
    fn resources(&self) -> Resources {
        let throughput = self.radio_rate as u64;
        let least_buffer = self.queue.bytes.min(u64::from(self.queue.packets).saturating_mul(1500));
        Resources { throughput, per_terminal: throughput, buffer: 1 << 20, least_buffer }
    }

    /// What a gateway says of itself.
    fn gateway(&self, number: usize, order: Order) -> GatewayConfig {
        GatewayConfig {
            address: gateway_address(number),
            access: Access {
                mac: HardwareAddress([2, 0, 0, 0, 0, number as u8 + 1]),
                essid: format!("gateway {number}"),
                channel: 1 + 5 * number as u16,
                netmask: IpAddr::V4(Ipv4Addr::new(255, 255, 255, 0)),
                addresses: (0..ADDRESSES).map(|n| terminal_address(number, n).ip()).collect(),
                delay: self.radio_delay,
                key: None,
            },
            resources: self.resources(),
            order,
            release: Release::AtOnce,
            patience: Patience::default(),
            sip: SipConfig::default(),
            clear: ClearSip::default(),
        }
    }
}

/// The hosts' machines.
struct Machines {
    cn: SipHost,
    mn: SipHost,
    gateways: [SipHost; 2],
}

impl Machines {
    fn new(seed: &Seed, air: &Air, sctp: &Correspondence, control: Control) -> Self {
        let node = |number, config: &Config, local| {
            Node::new(Arc::new(config.clone()), seed.child("host", number), vec![local])
        };
        let cn = node(1, &sctp.correspondent, correspondent());
        let mn = node(2, &sctp.terminal, terminal_address(0, 0));
        let sip = |number| seed.child("sip", number);
        let (order, transition, policy) = match control {
            Control::Terminal(policy) => (Order::default(), None, Some(policy)),
            Control::Network(transition, order) => (order, Some(transition), None),
        };
        let gateways = [0, 1].map(|number| {
            SipParts::gateway(Gateway::new(air.gateway(number, order), &sip(number as u64 + 3)))
        });
        let mn = match policy {
            Some(policy) => mn.with_policy(policy),
            None => mn,
        };
        let Some(transition) = transition else {
            return Self { cn: SipParts::plain(cn), mn: SipParts::plain(mn), gateways };
        };
        let sip_config = SipConfig::default();
        let address = with_port(correspondent(), SIP_PORT);
        let role = Correspondent::new(address, sip_config, transition, &sip(1));
        let cn = SipParts::both(cn, SipRole::Correspondent(Box::new(role)));
        let config = TerminalConfig {
            address: with_port(terminal_address(0, 0), SIP_PORT),
            gateway: gateway_address(0),
            detection: Duration::ZERO,
            sip: sip_config,
        };
        let mn = SipParts::both(mn, SipRole::Terminal(Box::new(Terminal::new(config, &sip(2)))));
        Self { cn, mn, gateways }
    }
}

impl Gateways {
    /// Sets them up; `seen` is shown each packet as it reaches a host.
    pub fn new(
        seed: u64,
        air: &Air,
        sctp: &Correspondence,
        control: Control,
        seen: impl FnMut(whimbrel_machine::Instant, &Overheard<'_>) + Send + 'static,
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let machines = Machines::new(world.seed(), air, sctp, control);
        let traffic: Box<dyn Traffic> = Box::new(Greedy::new(MESSAGE, BACKLOG));
        let sender = User::<whimbrel_testbed::Tally>::replier(traffic).saying(blank);
        let reader = User::opener(BEGIN, vec![correspondent()]);
        let cn = world.add_host("cn", machines.cn, SipUser::new(sender));
        let mn = world.add_host("mn", machines.mn, SipUser::new(reader));
        let mut number = 0;
        let gateways = machines.gateways.map(|gateway| {
            number += 1;
            world.add_host(&format!("gw{number}"), gateway, SipUser::listening())
        });
        let (radio, wires) = join(&mut world, air, cn, mn, gateways);
        let (arrivals, observer) = Arrivals::observe(seen);
        world.set_intruder(Some(observer));
        radio[1].cut(&mut world, whimbrel_machine::Instant::ZERO);
        radio[0].name(&mut world, whimbrel_machine::Instant::ZERO);
        let at = (0, terminal_address(0, 0).ip());
        Self { world, cn, mn, gateways, radio, wires, arrivals, at, moves: 0, seen: 0 }
    }
}

fn join(
    world: &mut SipWorld,
    air: &Air,
    cn: HostId,
    mn: HostId,
    gateways: [HostId; 2],
) -> ([Uplink; 2], [whimbrel_netsim::LinkId; 2]) {
    let core = world.add_router();
    let own = world.add_interface(cn, [correspondent().ip()]);
    world.add_link(own, core, LinkConfig::default(), LinkConfig::default());
    let mut wires = Vec::new();
    let radio = [0, 1].map(|number: usize| {
        let relay = world.add_relay(gateways[number]);
        wires.push(world.add_link(core, relay, air.wired(), air.wired()));
        let own = world.add_interface(gateways[number], [gateway_address(number).ip()]);
        world.add_link(own, relay, LinkConfig::default(), LinkConfig::default());
        let interface = world.add_interface(mn, (0..ADDRESSES).map(|n| terminal_address(number, n).ip()));
        let link = world.add_link(relay, interface, air.radio(), air.radio());
        let (id, kind) = (InterfaceId(number as u32), InterfaceKind::WirelessLan);
        Uplink { host: mn, link, interface, number: id, kind, address: terminal_address(number, 0) }
    });
    (radio, [wires[0], wires[1]])
}
