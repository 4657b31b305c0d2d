use core::net::IpAddr;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A host of a world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostId(pub(crate) u32);

/// A network interface of a host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub(crate) u32);

/// A router: joins links and has no address. It forwards at once; delays and queues are the links'.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RouterId(pub(crate) u32);

/// A link, with an `a` end and a `b` end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub(crate) u32);

impl HostId {
    /// The host's number, in the order of creation from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// The link's number, in the order of creation from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a link can end at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Attachment {
    /// A host's interface.
    Interface(InterfaceId),
    /// A router.
    Router(RouterId),
}

impl From<InterfaceId> for Attachment {
    fn from(interface: InterfaceId) -> Self {
        Self::Interface(interface)
    }
}

impl From<RouterId> for Attachment {
    fn from(router: RouterId) -> Self {
        Self::Router(router)
    }
}

/// Which direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// From the `a` end to the `b` end.
    AtoB,
    /// From the `b` end to the `a` end.
    BtoA,
    /// Both.
    Both,
}

impl Side {
    /// The directions of `link` that are meant, as indices into all directions.
    pub(crate) fn directions(self, link: LinkId) -> impl Iterator<Item = u32> {
        let (first, last) = match self {
            Self::AtoB => (0, 0),
            Self::BtoA => (1, 1),
            Self::Both => (0, 1),
        };
        (first..=last).map(move |side| link.0 * 2 + side)
    }
}

#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) host: u32,
    links: Vec<u32>,
}

/// Who is connected to whom. Routing is static and by fewest links, whatever their state: a link that is down
/// swallows packets, as it does in a network whose routing has not noticed.
#[derive(Debug, Default)]
pub(crate) struct Topology {
    pub(crate) interfaces: Vec<Interface>,
    routers: Vec<Vec<u32>>,
    /// Routers that a host's machine runs, with the host.
    relays: Vec<(u32, u32)>,
    links: Vec<[Attachment; 2]>,
    owners: FxHashMap<IpAddr, u32>,
    /// How often `owners` has changed.
    epoch: u32,
    next_hops: FxHashMap<(Attachment, u32), Option<u32>>,
}

impl Topology {
    pub(crate) fn add_interface(&mut self, host: HostId) -> InterfaceId {
        self.interfaces.push(Interface { host: host.0, links: Vec::new() });
        InterfaceId(self.interfaces.len() as u32 - 1)
    }

    /// Gives `address` to an interface; whoever had it loses it.
    pub(crate) fn add_address(&mut self, interface: InterfaceId, address: IpAddr) {
        self.owners.insert(address, interface.0);
        self.epoch += 1;
    }

    pub(crate) fn remove_address(&mut self, interface: InterfaceId, address: IpAddr) {
        if self.owner(address) == Some(interface.0) {
            self.owners.remove(&address);
            self.epoch += 1;
        }
    }

    pub(crate) fn add_router(&mut self) -> RouterId {
        self.routers.push(Vec::new());
        RouterId(self.routers.len() as u32 - 1)
    }

    /// A router at which everything is handed to `host`.
    pub(crate) fn add_relay(&mut self, host: HostId) -> RouterId {
        let router = self.add_router();
        self.relays.push((router.0, host.0));
        router
    }

    /// The host that runs a router, if one does.
    pub(crate) fn relay_at(&self, at: Attachment) -> Option<u32> {
        let Attachment::Router(RouterId(router)) = at else { return None };
        self.relays.iter().find(|relay| relay.0 == router).map(|relay| relay.1)
    }

    /// The router that a host runs, if it runs one.
    pub(crate) fn relay_of(&self, host: u32) -> Option<RouterId> {
        self.relays.iter().find(|relay| relay.1 == host).map(|relay| RouterId(relay.0))
    }

    pub(crate) fn add_link(&mut self, a: Attachment, b: Attachment) -> LinkId {
        let link = self.links.len() as u32;
        self.links.push([a, b]);
        self.links_at(a).push(link);
        if a != b {
            self.links_at(b).push(link);
        }
        self.next_hops.clear();
        LinkId(link)
    }

    /// Takes the `b` end of `link` to another place.
    pub(crate) fn reattach(&mut self, link: LinkId, b: Attachment) {
        let old = self.links[link.0 as usize][1];
        self.links_at(old).retain(|&other| other != link.0);
        self.links[link.0 as usize][1] = b;
        self.links_at(b).push(link.0);
        self.next_hops.clear();
    }

    pub(crate) fn link_count(&self) -> usize {
        self.links.len()
    }

    /// The interface that has `address`.
    pub(crate) fn owner(&self, address: IpAddr) -> Option<u32> {
        self.owners.get(&address).copied()
    }

    /// As long as this is the same, every address has the owner it had.
    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Where a packet on `direction` comes out.
    pub(crate) fn far_end(&self, direction: u32) -> Attachment {
        self.links[(direction / 2) as usize][1 - (direction % 2) as usize]
    }

    /// The link direction by which a packet leaves `from` for the interface `destination`.
    pub(crate) fn next_hop(&mut self, from: Attachment, destination: u32) -> Option<u32> {
        if let Attachment::Interface(InterfaceId(interface)) = from
            && let [link] = self.interfaces[interface as usize].links[..]
        {
            return Some(self.direction_from(link, from));
        }
        if let [link] = self.interfaces[destination as usize].links[..]
            && self.links[link as usize].contains(&from)
        {
            return Some(self.direction_from(link, from));
        }
        if let Some(&known) = self.next_hops.get(&(from, destination)) {
            return known;
        }
        let found = self.search(from, Attachment::Interface(InterfaceId(destination)));
        self.next_hops.insert((from, destination), found);
        found
    }

    fn direction_from(&self, link: u32, from: Attachment) -> u32 {
        link * 2 + u32::from(self.links[link as usize][0] != from)
    }

    fn links_at(&mut self, at: Attachment) -> &mut Vec<u32> {
        match at {
            Attachment::Interface(interface) => &mut self.interfaces[interface.0 as usize].links,
            Attachment::Router(router) => &mut self.routers[router.0 as usize],
        }
    }

    /// Breadth first, by links in the order of their creation, through routers only.
    fn search(&self, from: Attachment, to: Attachment) -> Option<u32> {
        let mut seen = vec![false; self.routers.len()];
        let mut frontier = VecDeque::from([(from, None)]);
        while let Some((at, first_hop)) = frontier.pop_front() {
            let links = match at {
                Attachment::Router(router) if core::mem::replace(&mut seen[router.0 as usize], true) => {
                    continue;
                }
                Attachment::Router(router) => &self.routers[router.0 as usize],
                Attachment::Interface(interface) if at == from => {
                    &self.interfaces[interface.0 as usize].links
                }
                Attachment::Interface(_) => continue,
            };
            for &link in links {
                let direction = self.direction_from(link, at);
                let first_hop = first_hop.or(Some(direction));
                let next = self.far_end(direction);
                if next == to {
                    return first_hop;
                }
                frontier.push_back((next, first_hop));
            }
        }
        None
    }
}

#[cfg(test)]
#[path = "topology_tests.rs"]
mod tests;
