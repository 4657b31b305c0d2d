//! A host's own links: what the systems below the transport know and tell.
//!
//! [`Links`] is what there is, and [`LinkFact`] a change of it. A driver writes what it sees into links, and the machine
//! compares them with those it was told last: so nobody but [`Links::changes_to`] looks for differences. Who writes scripts
//! for simulated hosts thinks in changes, and makes links of them by [`Links::apply`], which is the inverse.
//!
//! A new property of interfaces is a field of [`InterfaceProperties`] and a variant of [`InterfaceFact`].

mod changes;
mod interface;
mod links;
mod nat64_prefix;

use core::net::{IpAddr, SocketAddr};

pub use interface::{Cost, Interface, InterfaceFact, InterfaceKind, InterfaceProperties};
pub use links::{Links, OpenAddress};
pub use nat64_prefix::{Nat64Prefix, NotANat64Prefix};

/// Names one of this host's network interfaces: any number below [`InterfaceId::NAMELESS`] that whoever describes the links
/// keeps to, such as the kernel's interface index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

impl InterfaceId {
    /// Numbers from here on name addresses of which no interface is known. A kernel's interface indices fit 31 bits, and 2³⁰
    /// further numbers are left for interfaces that have none.
    pub const NAMELESS: u32 = 3 << 30;

    /// Whether it stands for an address of which no interface is known.
    pub const fn is_nameless(self) -> bool {
        self.0 >= Self::NAMELESS
    }
}

/// A change of this host's links.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkFact {
    /// A local address has become usable; or it has been so, but what left from it got nowhere and now has a way out.
    AddressUp(SocketAddr),
    /// A local address is gone, or its interface has lost its carrier.
    AddressDown(SocketAddr),
    /// From now on this address belongs to this interface. Told before the address is up; without it the address counts
    /// as an interface of its own about which nothing else is known.
    AddressOn {
        /// The interface that has the address.
        interface: InterfaceId,
        /// The address, whatever its encapsulation port.
        address: IpAddr,
    },
    /// Something about an interface as a whole.
    Interface {
        /// The interface that has changed.
        interface: InterfaceId,
        /// What has changed about it.
        fact: InterfaceFact,
    },
}
