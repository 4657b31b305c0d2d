use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::Route;

use super::Path;
use crate::interface::PathId;

/// The paths of an association, in the order they were added.
#[derive(Debug)]
pub(crate) struct Paths {
    list: Vec<Path>,
    primary: PathId,
    next_id: u32,
    /// Addresses of ours that are metered.
    spared: Vec<IpAddr>,
}

impl Paths {
    /// A set without paths; the first one added becomes the primary path.
    ///
    /// There is room for `expected` paths and no more: a path is large, and there may be very many associations.
    pub(crate) fn new(expected: usize) -> Self {
        Self { list: Vec::with_capacity(expected), primary: PathId(0), next_id: 0, spared: Vec::new() }
    }

    pub(crate) fn next_id(&mut self) -> PathId {
        let id = PathId(self.next_id);
        self.next_id += 1;
        id
    }

    pub(crate) fn push(&mut self, path: Path) {
        if self.list.is_empty() {
            self.primary = path.id;
        }
        self.list.push(path);
    }

    /// Takes a path out. Another one must be made primary if it was that.
    pub(crate) fn remove(&mut self, id: PathId) -> Option<Path> {
        let at = self.list.iter().position(|path| path.id == id)?;
        Some(self.list.remove(at))
    }

    pub(crate) fn primary(&self) -> PathId {
        self.primary
    }

    pub(crate) fn set_primary(&mut self, id: PathId) {
        debug_assert!(self.get(id).is_some());
        self.primary = id;
    }

    /// The paths from these addresses of ours, now and later, are not for data that others can carry; see [`data_paths`](super::data_paths).
    pub(crate) fn spare(&mut self, addresses: Vec<IpAddr>) {
        self.spared = addresses;
    }

    pub(crate) fn is_spared(&self, path: &Path) -> bool {
        self.spared.contains(&path.route.local.ip())
    }

    /// What the slowest path that can be used takes for a round trip, if that is known of any.
    pub(crate) fn longest_round_trip(&self) -> Option<Duration> {
        self.iter().filter(|path| path.is_usable()).filter_map(|path| path.rto.srtt()).max()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        self.list.iter_mut()
    }

    pub(crate) fn get(&self, id: PathId) -> Option<&Path> {
        self.list.iter().find(|p| p.id == id)
    }

    pub(crate) fn get_mut(&mut self, id: PathId) -> Option<&mut Path> {
        self.list.iter_mut().find(|p| p.id == id)
    }

    /// The path whose addresses are exactly these.
    pub(crate) fn by_route(&self, route: Route) -> Option<PathId> {
        self.list.iter().find(|p| p.route == route).map(|p| p.id)
    }

    /// The path between these two IP addresses, whatever the encapsulation ports.
    pub(crate) fn by_ips(&self, local: IpAddr, remote: IpAddr) -> Option<PathId> {
        let between = |p: &&Path| p.route.local.ip() == local && p.route.remote.ip() == remote;
        self.list.iter().find(between).map(|p| p.id)
    }

    /// Some path to this address of the peer, a confirmed one if there is.
    pub(crate) fn to_remote(&self, remote: IpAddr) -> Option<PathId> {
        let to = |p: &&Path| p.route.remote.ip() == remote;
        let confirmed = self.list.iter().filter(to).find(|p| p.confirmed);
        confirmed.or_else(|| self.list.iter().find(to)).map(|p| p.id)
    }

    /// The peer's addresses, each once.
    pub(crate) fn remotes(&self) -> SmallVec<[SocketAddr; 2]> {
        let mut out = SmallVec::new();
        for path in &self.list {
            if !out.contains(&path.route.remote) {
                out.push(path.route.remote);
            }
        }
        out
    }
}
