use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use whimbrel_machine::{InterfaceId, InterfaceKind, Machine};
use whimbrel_netsim::{App, HostId, LinkConfig, LinkId, World};

use crate::Uplink;

/// An interface without an address.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// What is between two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    /// Networks that have nothing to do with one another: link `n` joins interface `n` of the first host with that of the second.
    Networks,
    /// A router: a link leads there from each interface, the first host's first.
    Router,
}

/// What a host takes its interface `n` for, counted from 0, unless told otherwise.
pub fn kind(n: usize) -> InterfaceKind {
    [InterfaceKind::WirelessLan, InterfaceKind::Cellular, InterfaceKind::Wired][n % 3]
}

impl Between {
    /// Gives two hosts interfaces with these addresses, and links of these configurations: from the first host or from a host, and back. An
    /// uplink is called by the first of its addresses.
    pub fn join<M: Machine, A: App<M>>(
        self,
        world: &mut World<M, A>,
        hosts: [HostId; 2],
        addresses: [Vec<Vec<SocketAddr>>; 2],
        links: &[[LinkConfig; 2]],
    ) -> [Vec<Uplink>; 2] {
        let mut add = |host: usize| -> Vec<_> {
            let ips = addresses[host].iter().map(|all| all.iter().map(SocketAddr::ip));
            ips.map(|ips| world.add_interface(hosts[host], ips)).collect()
        };
        let interfaces = [add(0), add(1)];
        let ends = match self {
            Self::Networks => {
                let pairs = interfaces[0].iter().zip(&interfaces[1]);
                let add = |((&a, &b), &[there, back]): ((&_, &_), &[LinkConfig; 2])| {
                    world.add_link(a, b, there, back)
                };
                let links: Vec<LinkId> = pairs.zip(links).map(add).collect();
                [links.clone(), links]
            }
            Self::Router => {
                let router = world.add_router();
                let add =
                    |(&end, &[there, back]): (&_, &[LinkConfig; 2])| world.add_link(end, router, there, back);
                let mut links: Vec<LinkId> = interfaces.iter().flatten().zip(links).map(add).collect();
                let of_second = links.split_off(interfaces[0].len());
                [links, of_second]
            }
        };
        [0, 1].map(|host| {
            let uplink = |n: usize| Uplink {
                host: hosts[host],
                link: ends[host][n],
                interface: interfaces[host][n],
                number: InterfaceId(n as u32),
                kind: kind(n),
                address: addresses[host][n].first().copied().unwrap_or(NOWHERE),
            };
            (0..interfaces[host].len()).map(uplink).collect()
        })
    }
}
