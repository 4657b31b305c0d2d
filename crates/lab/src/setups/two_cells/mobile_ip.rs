use serde::Deserialize;
use whimbrel_machine::LinkFact;
use whimbrel_netsim::{CellEvent, LinkConfig};
use whimbrel_rivals::mobile_ip::TUNNEL_BYTES;
use whimbrel_rivals::tcp::{File, TcpConfig};
use whimbrel_testbed::{Flow, Opening, Rival, RivalUser, flow, mobile_ip};

use super::{BEGIN, Download, MTU, Way, Wires};

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
pub type MobileIp = Download<Rival, RivalUser>;

impl MobileIp {
    /// Sets it up.
    pub fn new(seed: u64, config: TcpConfig, wires: &Wires, tunnel: TunnelEnd, way: &Way, file: u64) -> Self {
        let near = LinkConfig { mtu: MTU, ..LinkConfig::default() };
        // Between agent and node our agents always send with an outer header.
        let unheard = match tunnel {
            TunnelEnd::AccessRouter => TUNNEL_BYTES,
            TunnelEnd::MobileNode => 0,
        };
        let links = [near, wires.wired(), wires.radio(TUNNEL_BYTES, unheard)];
        let mobile_ip::MobileIp { world, cn, mn, radio, .. } =
            mobile_ip::MobileIp::new(seed, config, links, [0, 0], |route| {
                Flow::sender(Opening { start: BEGIN, route, port: 80, sources: vec![Box::new(File(file))] })
            });
        let mut this = Self::begin(world, [cn, mn], radio, way, file, |user| Some(&flow(user)?.record));
        for &(at, cell, event) in &way.events {
            let (radio, world) = (radio[cell], &mut this.world);
            match event {
                CellEvent::Signal(_) => {}
                CellEvent::Attached => radio.heal(world, at),
                CellEvent::Addressed => radio.tell(world, at, LinkFact::AddressUp(radio.address)),
                CellEvent::Lost => radio.leave(world, at),
            }
        }
        this
    }
}
