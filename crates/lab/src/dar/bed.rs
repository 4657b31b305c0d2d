//! The hosts and networks of b08 Figures 1 to 4.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_handover::Policy;
use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Seed};
use whimbrel_netsim::{
    Action, Change, HostId, InFlight, LinkConfig, LinkId, QueueLimit, RouterId, Side, World,
};
use whimbrel_node::Node;
use whimbrel_proto::{AddressChange, Command, Config, PathPairing};

use super::log::{Log, Meddle, Tap, Watcher};
use super::rewrite;
use super::seen::Seen;
use super::talker::{Talker, called, calling};
use crate::experiment::Watch;

/// The correspondent node's address, and its second one in scenario D.
pub(crate) const CN: IpAddr = address(1, 1);
pub(crate) const CN_SECOND: IpAddr = address(2, 1);
/// The mobile node's address in the old network and in the new one.
pub(crate) const OLD: IpAddr = address(1, 2);
pub(crate) const NEW: IpAddr = address(2, 2);
/// Another mobile node, whose association with the correspondent node is another.
pub(crate) const OTHER: IpAddr = address(3, 2);
/// Nobody's.
pub(crate) const NOBODY: IpAddr = address(9, 9);

const fn address(network: u8, host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, network, host))
}

/// "10 Mbps, 20 ms links" in the data.
const RATE: u64 = 10_000_000;
const DELAY: Duration = Duration::from_millis(20);
/// More than a window.
const QUEUE: u32 = 100;

/// Which networks there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// One interface, and two access points that it can attach to (scenarios A and B).
    OneInterface,
    /// Two interfaces (scenario C).
    TwoInterfaces,
    /// Two interfaces, and two addresses of the correspondent node: two paths that share nothing (scenario D).
    TwoPaths,
    /// As the first, and another mobile node.
    TwoMobiles,
}

/// What a bed is to be.
pub(crate) struct Plan {
    pub(crate) shape: Shape,
    /// Whether the mobile node sends data as well.
    pub(crate) uplink: bool,
    /// What decides; nothing does unless the bed is told.
    pub(crate) policy: Option<fn() -> Box<dyn Policy>>,
    pub(crate) meddle: Meddle,
}

impl Plan {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, uplink: false, policy: None, meddle: rewrite::nothing() }
    }
}

/// Two hosts, or three, that speak SCTP in the network in virtual time, with a script for each.
pub(crate) struct Bed {
    pub(crate) world: World<Node, Talker>,
    pub(crate) mn: HostId,
    pub(crate) other: Option<HostId>,
    /// The mobile node's interfaces, and the link of each, of which it is the `a` end.
    interfaces: Vec<whimbrel_netsim::InterfaceId>,
    access: Vec<LinkId>,
    /// An interface at the old access point that can reach nobody: who has left leaves the address there, so that packets for it still
    /// find their way into the network.
    left_behind: whimbrel_netsim::InterfaceId,
    /// Of the old network and of the new one.
    routers: [RouterId; 2],
    log: Log,
}

/// The address as a host names it, without UDP encapsulation.
pub(crate) const fn socket(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, 0)
}

/// Milliseconds of the run.
pub(crate) const fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

impl Bed {
    pub(crate) fn new(config: &Config, seed: u64, plan: Plan, watch: Watch) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        // The correspondent node has one path to each of the mobile node's addresses, as the papers have it.
        let single = Arc::new(Config { pairing: PathPairing::PerDestination, ..config.clone() });
        let config = Arc::new(config.clone());
        let node = |world: &World<Node, Talker>, number, local: &[IpAddr]| {
            let local = local.iter().map(|&ip| socket(ip)).collect();
            let config = if number == 1 { &single } else { &config };
            Node::new(Arc::clone(config), world.seed().child("host", number), local)
        };
        let cn_addresses: &[IpAddr] = if plan.shape == Shape::TwoPaths { &[CN, CN_SECOND] } else { &[CN] };
        let cn_node = node(&world, 1, cn_addresses);
        let mut mn_node = node(&world, 2, &[OLD]);
        if let Some(policy) = plan.policy {
            mn_node = mn_node.with_policy(policy);
        }
        let cn = world.add_host("cn", cn_node, called(true));
        let mn = world.add_host("mn", mn_node, calling(socket(CN), plan.uplink));
        let routers = [world.add_router(), world.add_router()];
        let log = Log::default();
        let (wired, access) = (LinkConfig::default(), access_network());
        let wires: Vec<LinkId> = if plan.shape == Shape::TwoPaths {
            let far = cn_addresses.iter().map(|&ip| world.add_interface(cn, [ip])).collect::<Vec<_>>();
            far.into_iter()
                .zip(routers)
                .map(|(far, router)| world.add_link(far, router, wired, wired))
                .collect()
        } else {
            let (far, core) = (world.add_interface(cn, [CN]), world.add_router());
            routers.iter().for_each(|&router| {
                world.add_link(core, router, wired, wired);
            });
            vec![world.add_link(far, core, wired, wired)]
        };
        let two = matches!(plan.shape, Shape::TwoInterfaces | Shape::TwoPaths);
        let mut interfaces = vec![world.add_interface(mn, [OLD])];
        interfaces.extend(two.then(|| world.add_interface(mn, [])));
        let ends: Vec<_> = interfaces.iter().copied().zip(routers).collect();
        let mut links: Vec<LinkId> =
            ends.into_iter().map(|(near, router)| world.add_link(near, router, access, access)).collect();
        let other = (plan.shape == Shape::TwoMobiles).then(|| {
            let other_node = node(&world, 3, &[OTHER]);
            let other = world.add_host("other", other_node, calling(socket(CN), false));
            let near = world.add_interface(other, [OTHER]);
            links.push(world.add_link(near, routers[0], access, access));
            other
        });
        let nowhere = world.add_host("nowhere", node(&world, 4, &[]), called(false));
        let left_behind = world.add_interface(nowhere, []);
        let dead = world.add_link(left_behind, routers[0], wired, wired);
        world.act(Action::Link(dead, Side::Both, Change::Down(InFlight::Lost)));
        let names = ["mn-1", "mn-2"];
        let named = |links: &[LinkId]| links.iter().copied().zip(names).collect::<Vec<_>>();
        // A tap hands on what the file says, which `finish` tells.
        let pcap: Option<Box<dyn std::io::Write + Send>> = Some(Box::new(Tap::new(&log, watch.pcap)));
        let _ = Watch { pcap, ..watch }.record(&mut world, &named(&links));
        let _ = world.capture(&named(&wires), Tap::new(&log, None));
        world.set_intruder(Some(Box::new(Watcher::new(&log, plan.meddle))));
        Self { world, mn, other, interfaces, access: links, left_behind, routers, log }
    }

    /// What has been seen, once the run has come to its end, and its fingerprint.
    pub(crate) fn finish(mut self, end: u64) -> (Vec<Seen>, u64) {
        self.until(end);
        let _ = self.world.finish();
        (self.log.take(), self.world.trace_hash())
    }

    /// Runs until this time in milliseconds.
    pub(crate) fn until(&mut self, millis: u64) {
        self.world.run_until(at(millis));
    }

    pub(crate) fn tell(&mut self, fact: LinkFact) {
        self.world.act(Action::Fact(self.mn, fact));
    }

    /// Has the mobile node learn something about an interface, 0 or 1.
    pub(crate) fn tell_about(&mut self, interface: u32, fact: InterfaceFact) {
        self.tell(LinkFact::Interface { interface: InterfaceId(interface), fact });
    }

    /// Has the mobile node learn that an interface, 0 or 1, is there, and which address it is to have.
    pub(crate) fn introduce(&mut self, interface: u32, kind: InterfaceKind, address: IpAddr) {
        self.tell(LinkFact::AddressOn { interface: InterfaceId(interface), address });
        self.tell_about(interface, InterfaceFact::Up(kind));
    }

    /// Has the mobile node's user ask for changes of addresses.
    pub(crate) fn ask(&mut self, changes: &[AddressChange]) {
        Self::ask_at(&mut self.world, self.mn, changes);
    }

    /// The same with the other mobile node.
    pub(crate) fn ask_other(&mut self, changes: &[AddressChange]) {
        if let Some(other) = self.other {
            Self::ask_at(&mut self.world, other, changes);
        }
    }

    fn ask_at(world: &mut World<Node, Talker>, host: HostId, changes: &[AddressChange]) {
        let Some(association) = world.app(host).association() else { return };
        let changes = changes.to_vec();
        world.act(Action::Command(host, Command::ChangeAddresses { association, changes }));
    }

    /// The network gives an address to an interface of the mobile node, which is not told.
    pub(crate) fn assign(&mut self, interface: usize, address: IpAddr) {
        self.world.act(Action::AddAddress(self.interfaces[interface], address));
    }

    /// An interface of the mobile node can reach nobody any more; what is on its way is lost.
    pub(crate) fn disconnect(&mut self, interface: usize) {
        self.world.act(Action::Link(self.access[interface], Side::Both, Change::Down(InFlight::Lost)));
    }

    /// The only interface is at the access point of the new network.
    pub(crate) fn attach_anew(&mut self) {
        self.world.act(Action::Reattach(self.access[0], self.routers[1].into()));
        self.world.act(Action::Link(self.access[0], Side::Both, Change::Up));
    }

    /// The old address stays in the old network.
    pub(crate) fn leave_behind(&mut self) {
        self.world.act(Action::AddAddress(self.left_behind, OLD));
    }
}

fn access_network() -> LinkConfig {
    LinkConfig {
        rate_bps: Some(RATE),
        queue: QueueLimit::packets(QUEUE),
        delay: DELAY,
        ..LinkConfig::default()
    }
}
