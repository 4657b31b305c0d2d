use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{Interface, InterfaceId};
use whimbrel_proto::PathView;

use crate::Reason;

/// What a policy may look at while it decides.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// This host's interfaces.
    pub interfaces: &'a [Interface],
    /// This host's addresses: those that are usable now, and those that the peer still counts as ours.
    pub addresses: &'a [LocalAddress],
    /// The association's paths.
    pub paths: &'a [PathView],
    /// The peer's addresses, whether there is a path to them or not.
    pub remotes: &'a [SocketAddr],
    /// Whether addresses can be added and deleted while the association lives: the peer understands ASCONF and AUTH
    /// (RFC 5061 §4.2.7).
    pub dynamic: bool,
}

/// An address of this host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalAddress {
    /// The address.
    pub address: SocketAddr,
    /// Its interface.
    pub interface: InterfaceId,
    /// It can be used: neither it nor its interface is down.
    pub up: bool,
    /// What it is to this association.
    pub standing: Standing,
}

/// What one of our addresses is to an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The peer does not know it.
    Absent,
    /// The peer has been asked to add it, and has not answered.
    Adding,
    /// The peer knows it.
    Present,
    /// The peer has been asked to delete it, and has not answered.
    Deleting,
}

impl View<'_> {
    /// The interface called `id`.
    pub fn interface(&self, id: InterfaceId) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.id == id)
    }

    /// Our address `ip`.
    pub fn address(&self, ip: IpAddr) -> Option<&LocalAddress> {
        self.addresses.iter().find(|local| local.address.ip() == ip)
    }

    /// The interface of our address `ip`.
    pub fn interface_of(&self, ip: IpAddr) -> Option<&Interface> {
        self.interface(self.address(ip)?.interface)
    }

    /// Our address on the primary path.
    pub fn primary(&self) -> Option<IpAddr> {
        self.primary_path().map(|path| path.route.local.ip())
    }

    /// Whether the peer has any address of the same family as `ip`: without one, `ip` is of no use to this association.
    pub fn reaches(&self, ip: IpAddr) -> bool {
        self.remotes.iter().any(|remote| remote.is_ipv4() == ip.is_ipv4())
    }

    /// The paths from our address `ip`.
    pub fn paths_from(&self, ip: IpAddr) -> impl Iterator<Item = &PathView> {
        self.paths.iter().filter(move |path| path.route.local.ip() == ip)
    }

    /// The primary path.
    pub fn primary_path(&self) -> Option<&PathView> {
        self.paths.iter().find(|path| path.primary)
    }

    /// The path to use from our address `ip`: an active one, the one with the least [`Blemish`](crate::Blemish), of those one to where the
    /// primary path leads if there is one, or else the quickest.
    pub fn usable_path(&self, ip: IpAddr) -> Option<&PathView> {
        let remote = self.primary_path().map(|path| path.route.remote);
        self.paths_from(ip).filter(|path| self.is_usable(path)).min_by_key(|path| {
            let quick = path.srtt.unwrap_or(core::time::Duration::MAX);
            (self.blemish(path), Some(path.route.remote) != remote, quick, path.id)
        })
    }

    /// What is wrong with the primary path if that is reason enough to leave it, and another one is better.
    pub(crate) fn complaint(&self) -> Option<Reason> {
        let primary = self.primary_path().filter(|path| self.is_usable(path))?;
        self.blemish(primary).reason()
    }
}
