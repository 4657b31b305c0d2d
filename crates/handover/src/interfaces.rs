use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{Cost, InterfaceFact, InterfaceId, InterfaceKind, LinkFact};

use crate::Interface;

/// Interfaces remembered at most. A host with more has most of them out of use.
const MAX_INTERFACES: usize = 64;

/// Addresses remembered at most.
const MAX_ADDRESSES: usize = 256;

/// Numbers from here on name addresses of which no interface is known. A kernel's interface indices are positive and fit 31
/// bits.
const NAMELESS: u32 = 1 << 31;

/// What is known about this host's interfaces and addresses: the sum of all link facts.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    interfaces: Vec<Interface>,
    addresses: Vec<Address>,
    nameless: u32,
}

#[derive(Clone, Copy, Debug)]
struct Address {
    ip: IpAddr,
    interface: InterfaceId,
    /// With its encapsulation port, while it is up.
    up: Option<SocketAddr>,
}

impl Interfaces {
    /// What is known to begin with: these addresses are up.
    pub fn new(addresses: &[SocketAddr]) -> Self {
        let mut all = Self::default();
        for &address in addresses {
            all.apply(&LinkFact::AddressUp(address));
        }
        all
    }

    /// Takes in a fact. What is beyond the limits is forgotten at once.
    pub fn apply(&mut self, fact: &LinkFact) {
        match *fact {
            LinkFact::AddressUp(address) => {
                if let Some(known) = self.address_mut(address.ip()) {
                    known.up = Some(address);
                }
            }
            LinkFact::AddressDown(address) => {
                if let Some(known) = self.addresses.iter_mut().find(|known| known.ip == address.ip()) {
                    known.up = None;
                }
            }
            LinkFact::AddressOn { interface, address } => {
                if self.interface_mut(interface).is_some()
                    && let Some(known) = self.address_mut(address)
                {
                    let nameless = known.interface;
                    known.interface = interface;
                    self.interfaces.retain(|other| other.id != nameless || nameless.0 < NAMELESS);
                }
            }
            LinkFact::Interface { interface, fact } => self.apply_to(interface, fact),
        }
    }

    fn apply_to(&mut self, id: InterfaceId, fact: InterfaceFact) {
        match fact {
            InterfaceFact::Strongest => self.interfaces.iter_mut().for_each(|other| other.strongest = false),
            InterfaceFact::Selected => self.interfaces.iter_mut().for_each(|other| other.selected = false),
            _ => {}
        }
        let Some(interface) = self.interface_mut(id) else { return };
        match fact {
            InterfaceFact::Up(kind) => {
                interface.kind = kind;
                interface.up = true;
                interface.going_down = false;
                interface.attached = true;
            }
            InterfaceFact::Down => {
                interface.up = false;
                interface.going_down = false;
                interface.attached = false;
                interface.strongest = false;
                interface.signal = None;
            }
            InterfaceFact::GoingDown => interface.going_down = true,
            InterfaceFact::HandoverComplete => {
                interface.attached = true;
                interface.going_down = false;
            }
            InterfaceFact::Signal(power) => interface.signal = Some(power),
            InterfaceFact::Strongest => interface.strongest = true,
            InterfaceFact::Rate(rate) => interface.rate = Some(rate),
            InterfaceFact::Cost(cost) => interface.cost = cost,
            InterfaceFact::Rank(rank) => interface.rank = Some(rank),
            InterfaceFact::Selected => interface.selected = true,
        }
    }

    /// The interfaces, in the order in which they were first heard of.
    pub fn list(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The interface of an address: its own, or one made up for it.
    pub fn interface_of(&self, ip: IpAddr) -> Option<InterfaceId> {
        self.addresses.iter().find(|known| known.ip == ip).map(|known| known.interface)
    }

    /// The addresses that can be used now.
    pub fn usable(&self) -> impl Iterator<Item = (SocketAddr, InterfaceId)> + '_ {
        self.addresses
            .iter()
            .filter(|known| self.is_up(known.interface))
            .filter_map(|known| Some((known.up?, known.interface)))
    }

    /// The addresses of `interface` that are up themselves, whether their interface is or not.
    pub fn addresses_of(&self, interface: InterfaceId) -> impl Iterator<Item = SocketAddr> + '_ {
        self.addresses.iter().filter(move |known| known.interface == interface).filter_map(|known| known.up)
    }

    fn is_up(&self, id: InterfaceId) -> bool {
        self.interfaces.iter().find(|interface| interface.id == id).is_none_or(|interface| interface.up)
    }

    fn interface_mut(&mut self, id: InterfaceId) -> Option<&mut Interface> {
        if let Some(at) = self.interfaces.iter().position(|interface| interface.id == id) {
            return self.interfaces.get_mut(at);
        }
        if self.interfaces.len() >= MAX_INTERFACES {
            return None;
        }
        self.interfaces.push(Interface {
            id,
            kind: InterfaceKind::Other,
            up: true,
            going_down: false,
            attached: false,
            signal: None,
            strongest: false,
            rate: None,
            cost: Cost::Flat,
            rank: None,
            selected: false,
        });
        self.interfaces.last_mut()
    }

    fn address_mut(&mut self, ip: IpAddr) -> Option<&mut Address> {
        if let Some(at) = self.addresses.iter().position(|known| known.ip == ip) {
            return self.addresses.get_mut(at);
        }
        if self.addresses.len() >= MAX_ADDRESSES {
            // One that is gone makes room: privacy addresses come and go by the dozen.
            let gone = self.addresses.iter().position(|known| known.up.is_none())?;
            let gone = self.addresses.remove(gone);
            self.interfaces.retain(|interface| interface.id != gone.interface || gone.interface.0 < NAMELESS);
        }
        let interface = InterfaceId(NAMELESS | self.nameless);
        self.nameless = (self.nameless + 1) % NAMELESS;
        // Without room for it nothing will be known about it, which is no less than now.
        let _ = self.interface_mut(interface);
        self.addresses.push(Address { ip, interface, up: None });
        self.addresses.last_mut()
    }
}

#[cfg(test)]
#[path = "interfaces_tests.rs"]
mod tests;
