//! Our own addresses in one association: which of them the peer knows, and which can be sent from.

use core::net::{IpAddr, SocketAddr};

use super::Translators;

/// How far an address of ours belongs to the association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// The peer knows it.
    Member,
    /// The peer has been asked to add it: nothing but ASCONF leaves from it (RFC 5061 §5.3 F1).
    Adding,
    /// The peer has been asked to delete it: it still receives, nothing leaves from it (RFC 5061 §5.3 F4).
    Deleting,
}

/// The addresses of one association, and which addresses of the endpoint are up. An address is an IP address; the UDP
/// encapsulation port goes with it.
#[derive(Debug)]
pub(crate) struct Locals {
    list: Vec<(SocketAddr, Standing)>,
    up: Vec<SocketAddr>,
    /// Members that the peer does not know by the names that we gave it.
    hidden: Vec<IpAddr>,
    /// Of these, those that are named all the same, in a deletion.
    revealed: Vec<IpAddr>,
    /// What IPv4 addresses are called where they are.
    pub(crate) translators: Translators,
}

impl Locals {
    /// The peer knows `members`; `up` are the endpoint's addresses.
    pub(crate) fn new(members: impl IntoIterator<Item = SocketAddr>, up: &[SocketAddr]) -> Self {
        let mut locals = Self {
            list: Vec::new(),
            up: up.to_vec(),
            hidden: Vec::new(),
            revealed: Vec::new(),
            translators: Translators::default(),
        };
        for member in members {
            locals.set(member, Standing::Member);
        }
        locals
    }

    pub(crate) fn with_translators(self, translators: Translators) -> Self {
        Self { translators, ..self }
    }

    // ---- inputs

    /// An address of the endpoint has come up, perhaps with another encapsulation port than before.
    pub(crate) fn handle_up(&mut self, address: SocketAddr) {
        self.handle_down(address.ip());
        self.up.push(address);
        if let Some((known, _)) = self.list.iter_mut().find(|(known, _)| known.ip() == address.ip()) {
            *known = address;
        }
    }

    pub(crate) fn handle_down(&mut self, address: IpAddr) {
        self.up.retain(|up| up.ip() != address);
    }

    // ---- commands

    /// These addresses of the endpoint are up, and no others.
    pub(crate) fn set_up(&mut self, up: &[SocketAddr]) {
        self.up = up.to_vec();
    }

    pub(crate) fn set(&mut self, address: SocketAddr, standing: Standing) {
        match self.list.iter_mut().find(|(known, _)| known.ip() == address.ip()) {
            Some(entry) => entry.1 = standing,
            None => self.list.push((address, standing)),
        }
    }

    pub(crate) fn remove(&mut self, address: IpAddr) {
        self.list.retain(|(known, _)| known.ip() != address);
        self.hidden.retain(|hidden| *hidden != address);
        self.revealed.retain(|revealed| *revealed != address);
    }

    /// The peer says that it does not know where we are, though it has been told of this address: somebody translates it.
    pub(crate) fn hide(&mut self, address: IpAddr) {
        if self.standing(address) == Some(Standing::Member) && !self.hidden.contains(&address) {
            self.hidden.push(address);
        }
    }

    /// No other name would do to delete this address, if it is hidden: the peer is told the one that we have, and at worst refuses it.
    pub(crate) fn reveal(&mut self, address: IpAddr) {
        if self.hidden.contains(&address) && !self.revealed.contains(&address) {
            self.revealed.push(address);
        }
    }

    /// This address has not been deleted: if it is hidden it is named no more.
    pub(crate) fn conceal(&mut self, address: IpAddr) {
        self.revealed.retain(|revealed| *revealed != address);
    }

    // ---- views

    /// Whether the peer knows this address by another name, though nothing shows that.
    pub(crate) fn is_hidden(&self, address: IpAddr) -> bool {
        self.hidden.contains(&address) && !self.revealed.contains(&address)
    }

    pub(crate) fn standing(&self, address: IpAddr) -> Option<Standing> {
        self.list.iter().find(|(known, _)| known.ip() == address).map(|&(_, standing)| standing)
    }

    /// The endpoint's address with this IP address, if it is up.
    pub(crate) fn up(&self, address: IpAddr) -> Option<SocketAddr> {
        self.up.iter().copied().find(|up| up.ip() == address)
    }

    /// Whether the peer knows any address by another name, though nothing shows that.
    pub(crate) fn hides_any(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Every address of the endpoint that is up, in the association or not.
    pub(crate) fn all_up(&self) -> impl Iterator<Item = SocketAddr> {
        self.up.iter().copied()
    }

    /// Every address that belongs to the association in some way.
    pub(crate) fn all(&self) -> impl Iterator<Item = SocketAddr> {
        self.list.iter().map(|&(address, _)| address)
    }

    /// Addresses that the peer knows and is not asked to forget.
    pub(crate) fn members(&self) -> impl Iterator<Item = SocketAddr> {
        self.list.iter().filter(|(_, standing)| *standing == Standing::Member).map(|&(address, _)| address)
    }

    /// Addresses that any packet may leave from.
    pub(crate) fn sources(&self) -> Vec<SocketAddr> {
        self.members().filter(|member| self.is_source(member.ip())).collect()
    }

    /// Whether any packet may leave from this address.
    pub(crate) fn is_source(&self, address: IpAddr) -> bool {
        let up = self.up(address).is_some() || self.up.iter().any(|up| up.ip().is_unspecified());
        match self.standing(address) {
            Some(standing) => up && standing == Standing::Member,
            None => self.is_wildcard(),
        }
    }

    /// Whether what arrives at this address belongs to the association (RFC 5061 §5.3 F1, F4).
    pub(crate) fn accepts(&self, address: IpAddr) -> bool {
        self.standing(address).is_some() || self.is_wildcard()
    }

    /// Whether the peer has been asked to delete this address.
    pub(crate) fn is_leaving(&self, address: IpAddr) -> bool {
        self.standing(address) == Some(Standing::Deleting)
    }

    /// A driver that does not know its addresses is bound to all of them.
    fn is_wildcard(&self) -> bool {
        self.list.iter().any(|(address, _)| address.ip().is_unspecified())
    }
}

#[cfg(test)]
#[path = "locals_tests.rs"]
mod tests;
