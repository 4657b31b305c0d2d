use core::net::{IpAddr, SocketAddr};

use super::{Cost, Interface, InterfaceFact, InterfaceId, InterfaceProperties, LinkFact, Nat64Prefix};

/// Interfaces remembered at most. A host with more has most of them out of use.
pub(super) const MAX_INTERFACES: usize = 64;

/// Addresses remembered at most.
pub(super) const MAX_ADDRESSES: usize = 256;

/// What a host has: its interfaces and its addresses, each in the order in which they were first heard of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Links {
    pub(super) interfaces: Vec<Interface>,
    pub(super) addresses: Vec<Address>,
    nameless: u32,
    ways: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Address {
    pub(super) ip: IpAddr,
    pub(super) interface: InterfaceId,
    /// With its encapsulation port, while it is up.
    pub(super) up: Option<SocketAddr>,
    /// Rises, beyond that of all others, each time it comes up or gets a way out that it lacked.
    pub(super) way: u64,
}

/// An address from which packets can be sent, for [`Links::set_open`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenAddress {
    /// The address, with its encapsulation port.
    pub address: SocketAddr,
    /// What was sent from it until now got nowhere, and now has a way out.
    pub new_way: bool,
}

impl Links {
    /// What is known to begin with: these addresses are up.
    pub fn new(addresses: &[SocketAddr]) -> Self {
        let mut links = Self::default();
        for &address in addresses {
            links.open(address, true);
        }
        links
    }

    // ---- inputs: as changes, for scripts

    /// Takes in a change. What is beyond the limits is forgotten at once.
    pub fn apply(&mut self, fact: &LinkFact) {
        match *fact {
            LinkFact::AddressUp(address) => self.open(address, true),
            LinkFact::AddressDown(address) => {
                if let Some(known) = self.addresses.iter_mut().find(|known| known.ip == address.ip()) {
                    known.up = None;
                }
            }
            LinkFact::AddressOn { interface, address } => {
                if self.interface_mut(interface).is_some() {
                    self.place(address, interface);
                }
            }
            // Nothing is taken back from what was never heard of.
            LinkFact::Interface { interface, fact: InterfaceFact::Nat64(None) }
                if self.interface(interface).is_none() => {}
            LinkFact::Interface { interface, fact } => {
                let Some(known) = self.interface_mut(interface) else { return };
                known.apply(fact);
                match fact {
                    InterfaceFact::Strongest => self.set_strongest(Some(interface)),
                    InterfaceFact::Selected => self.select(interface),
                    _ => {}
                }
            }
        }
    }

    // ---- inputs: as they are, for drivers

    /// What an interface is like now. One that has never been up is not worth a place.
    pub fn set_interface(&mut self, id: InterfaceId, up: bool, properties: InterfaceProperties) {
        if !up && self.interface(id).is_none() {
            return;
        }
        let Some(interface) = self.interface_mut(id) else { return };
        interface.properties = properties;
        if up {
            (interface.up, interface.attached) = (true, true);
        } else {
            interface.apply(InterfaceFact::Down);
        }
    }

    /// Which interface receives the strongest signal.
    pub fn set_strongest(&mut self, strongest: Option<InterfaceId>) {
        for interface in &mut self.interfaces {
            interface.strongest = Some(interface.id) == strongest;
        }
    }

    /// An address belongs to this interface; nothing happens if there is no such interface.
    pub fn place(&mut self, ip: IpAddr, interface: InterfaceId) {
        if self.interface(interface).is_none() {
            return;
        }
        match self.addresses.iter_mut().find(|known| known.ip == ip) {
            Some(known) => {
                let before = core::mem::replace(&mut known.interface, interface);
                self.forget_nameless(before);
            }
            None => {
                self.add(Address { ip, interface, up: None, way: 0 });
            }
        }
    }

    /// These addresses are up, the best first, and no others.
    pub fn set_open(&mut self, open: &[OpenAddress]) {
        for known in &mut self.addresses {
            if !open.iter().any(|one| one.address.ip() == known.ip) {
                known.up = None;
            }
        }
        for one in open {
            self.open(one.address, one.new_way);
        }
    }

    fn open(&mut self, address: SocketAddr, new_way: bool) {
        let way = self.ways + 1;
        if let Some(known) = self.address_mut(address.ip())
            && (new_way || known.up != Some(address))
        {
            (known.up, known.way) = (Some(address), way);
            self.ways = way;
        }
    }

    /// Takes over what there is now; returns what has changed, as [`Self::changes_to`] does.
    pub fn follow(&mut self, next: &Self) -> Vec<LinkFact> {
        let changes = self.changes_to(next);
        let ordered = changes.iter().rev().find_map(|change| match change {
            LinkFact::Interface { interface, fact: InterfaceFact::Selected } => Some(*interface),
            _ => None,
        });
        let selected = ordered.or_else(|| Some(self.interfaces.iter().find(|one| one.selected)?.id));
        self.clone_from(next);
        if let Some(selected) = selected {
            self.select(selected);
        }
        changes
    }

    // ---- views

    /// The interfaces, in the order in which they were first heard of.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The interface of this name.
    pub fn interface(&self, id: InterfaceId) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.id == id)
    }

    /// The interface of an address: its own, or one made up for it.
    pub fn interface_of(&self, ip: IpAddr) -> Option<InterfaceId> {
        self.address(ip).map(|known| known.interface)
    }

    /// The addresses that can be used now.
    pub fn usable(&self) -> impl Iterator<Item = (SocketAddr, InterfaceId)> + '_ {
        self.addresses
            .iter()
            .filter(|known| self.interface(known.interface).is_none_or(|interface| interface.up))
            .filter_map(|known| Some((known.up?, known.interface)))
    }

    /// The addresses of `interface` that are up themselves, whether their interface is or not.
    pub fn addresses_of(&self, interface: InterfaceId) -> impl Iterator<Item = SocketAddr> + '_ {
        self.addresses.iter().filter(move |known| known.interface == interface).filter_map(|known| known.up)
    }

    /// What IPv4 addresses are called where each IPv6 address is that can be used now, if it is told.
    pub fn nat64(&self) -> impl Iterator<Item = (IpAddr, Nat64Prefix)> + '_ {
        let translated = self.usable().filter(|(address, _)| address.is_ipv6());
        translated.filter_map(|(address, on)| Some((address.ip(), self.interface(on)?.properties.nat64?)))
    }

    /// The addresses of metered interfaces that can be used now.
    pub fn metered(&self) -> impl Iterator<Item = IpAddr> + '_ {
        let is_metered =
            |on| self.interface(on).is_some_and(|one| one.properties.cost == Some(Cost::Metered));
        self.usable().filter(move |&(_, on)| is_metered(on)).map(|(address, _)| address.ip())
    }

    pub(super) fn address(&self, ip: IpAddr) -> Option<&Address> {
        self.addresses.iter().find(|known| known.ip == ip)
    }

    // ---- shared

    fn select(&mut self, selected: InterfaceId) {
        for interface in &mut self.interfaces {
            interface.selected = interface.id == selected;
        }
    }

    fn interface_mut(&mut self, id: InterfaceId) -> Option<&mut Interface> {
        if let Some(at) = self.interfaces.iter().position(|interface| interface.id == id) {
            return self.interfaces.get_mut(at);
        }
        if self.interfaces.len() >= MAX_INTERFACES {
            // One that is gone makes room: who takes a modem out and puts it back gets a new number for it each time.
            let is_gone = |one: &Interface| !one.up && self.addresses_of(one.id).next().is_none();
            let gone = self.interfaces.iter().position(is_gone)?;
            self.interfaces.remove(gone);
        }
        self.interfaces.push(Interface::new(id));
        self.interfaces.last_mut()
    }

    fn address_mut(&mut self, ip: IpAddr) -> Option<&mut Address> {
        if let Some(at) = self.addresses.iter().position(|known| known.ip == ip) {
            return self.addresses.get_mut(at);
        }
        let interface = InterfaceId(InterfaceId::NAMELESS | self.nameless);
        if !self.add(Address { ip, interface, up: None, way: 0 }) {
            return None;
        }
        self.nameless = (self.nameless + 1) & !InterfaceId::NAMELESS;
        // Without room for it nothing will be known about it, which is no less than now.
        let _ = self.interface_mut(interface);
        self.addresses.last_mut()
    }

    /// Whether there was room.
    fn add(&mut self, address: Address) -> bool {
        if self.addresses.len() >= MAX_ADDRESSES {
            // One that is gone makes room: privacy addresses come and go by the dozen.
            let Some(gone) = self.addresses.iter().position(|known| known.up.is_none()) else { return false };
            let gone = self.addresses.remove(gone);
            self.forget_nameless(gone.interface);
        }
        self.addresses.push(address);
        true
    }

    /// An interface that was made up for an address is of no use without it.
    fn forget_nameless(&mut self, id: InterfaceId) {
        self.interfaces.retain(|interface| interface.id != id || !id.is_nameless());
    }
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
