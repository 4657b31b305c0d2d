//! `[correspondent]`: what stands at the other end of each host's association, and where.

use core::net::{IpAddr, Ipv4Addr};

use serde::Deserialize;
use whimbrel_netsim::{RouterId, World};

use super::world::{OwnWorld, Place};

/// The correspondent nodes, one for each host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Correspondent {
    #[serde(default)]
    pub(super) addresses: Addresses,
}

/// How many addresses a correspondent node has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Addresses {
    /// One, behind a router where all networks meet.
    #[default]
    One,
    /// One behind each network. Networks meet nowhere, so that paths share nothing from end to end.
    PerNetwork,
}

/// The address of a host's correspondent node.
const fn address(host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, host + 1))
}

/// Its address behind a network.
const fn address_behind(host: u8, network: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(198, 19, host, network as u8 + 1))
}

impl Correspondent {
    /// The router at the far end of a network, where `core` is that of all.
    pub(super) fn router(self, world: &mut OwnWorld, core: RouterId) -> RouterId {
        match self.addresses {
            Addresses::One => core,
            Addresses::PerNetwork => World::add_router(world),
        }
    }
}

impl Place<'_> {
    /// The addresses of the correspondent node of a host that is in these networks, with the router that each is behind.
    pub(super) fn correspondent(&self, host: u8, networks: &[usize]) -> Vec<(IpAddr, RouterId)> {
        match self.addresses {
            Addresses::One => vec![(address(host), self.core)],
            Addresses::PerNetwork => networks
                .iter()
                .map(|&network| (address_behind(host, network), self.networks[network].far))
                .collect(),
        }
    }
}
