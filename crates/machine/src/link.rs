//! Facts about a host's own links: what the systems below the transport know and tell.

use core::net::{IpAddr, SocketAddr};

use crate::ReceivedPower;

/// Names one of this host's network interfaces: any number that whoever tells the facts keeps to, such as the kernel's
/// interface index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

/// A fact about this host's links.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkFact {
    /// A local address has become usable.
    AddressUp(SocketAddr),
    /// A local address is gone, or its interface has lost its carrier.
    AddressDown(SocketAddr),
    /// From now on this address belongs to this interface. Told before the address is up; without it the address counts
    /// as an interface of its own about which nothing else is known.
    AddressOn {
        /// Whose.
        interface: InterfaceId,
        /// The address, whatever its encapsulation port.
        address: IpAddr,
    },
    /// Something about an interface as a whole.
    Interface {
        /// Which.
        interface: InterfaceId,
        /// What.
        fact: InterfaceFact,
    },
}

/// A fact about an interface. None of them is proof of anything: drivers err, and radio signals can be forged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InterfaceFact {
    /// It exists and has its carrier; its addresses are told one by one.
    Up(InterfaceKind),
    /// It has lost its carrier or is gone.
    Down,
    /// It will soon go down, says the layer below (IEEE 802.21: Link_Going_Down).
    GoingDown,
    /// The layer-2 handover is complete: it is attached to its access point (c04: L2HC).
    HandoverComplete,
    /// The strength of the signal it receives.
    Signal(ReceivedPower),
    /// It now receives the strongest signal of all interfaces (c04: Max-IN).
    Strongest,
    /// Its nominal rate in bit/s.
    Rate(u64),
    /// What its use costs.
    Cost(Cost),
    /// The user's order of preference: 0 is the best.
    Rank(u8),
    /// The network says that this interface is to be used from now on.
    Selected,
}

/// What is behind an interface, as far as it matters for choosing one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum InterfaceKind {
    /// A cable.
    Wired,
    /// A wireless LAN.
    WirelessLan,
    /// A cellular network.
    Cellular,
    /// Unknown.
    #[default]
    Other,
}

/// What the use of an interface costs its user.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Cost {
    /// Nothing that depends on how much is sent.
    #[default]
    Flat,
    /// Every byte counts: to be spared.
    Metered,
}
