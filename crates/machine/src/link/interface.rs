use super::{InterfaceId, Nat64Prefix};
use crate::ReceivedPower;

/// A change of an interface. None of them is proof of anything: drivers err, and radio signals can be forged.
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
    /// What the network calls IPv4 addresses, if it has IPv6 alone and translates; `None` if it does not, or not any more.
    Nat64(Option<Nat64Prefix>),
}

/// What is behind an interface, as far as it matters for choosing one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum InterfaceKind {
    /// A cable.
    Wired,
    /// A wireless LAN (IEEE 802.11).
    WirelessLan,
    /// A cellular network's modem.
    Cellular,
    /// A tunnel.
    Tunnel,
    /// This host itself.
    Loopback,
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

/// What may be said about an interface. `None` is what nobody has said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InterfaceProperties {
    /// What is behind it.
    pub kind: Option<InterfaceKind>,
    /// The strength of the signal it receives.
    pub signal: Option<ReceivedPower>,
    /// Its nominal or estimated rate, bit/s.
    pub rate: Option<u64>,
    /// What its use costs.
    pub cost: Option<Cost>,
    /// The user's order of preference, 0 is the best.
    pub rank: Option<u8>,
    /// Whoever knows the link says that it will soon be lost (IEEE 802.21: Link_Going_Down).
    pub going_down: bool,
    /// How often that was said: a rise repeats the warning.
    pub warnings: u64,
    /// How often it has been attached to another access point: a rise says that a layer-2 handover is complete.
    pub handovers: u64,
    /// How often the network has ordered its use: a rise is an order.
    pub orders: u64,
    /// What the network calls IPv4 addresses, if it translates (NAT64).
    pub nat64: Option<Nat64Prefix>,
}

impl InterfaceProperties {
    /// Adds what somebody else says, who has the last word.
    pub fn merge(&mut self, other: &Self) {
        self.kind = other.kind.or(self.kind);
        self.signal = other.signal.or(self.signal);
        self.rate = other.rate.or(self.rate);
        self.cost = other.cost.or(self.cost);
        self.rank = other.rank.or(self.rank);
        self.nat64 = other.nat64.or(self.nat64);
        self.going_down |= other.going_down;
        // Each counts its own: sums rise when any of them rises.
        self.warnings = self.warnings.saturating_add(other.warnings);
        self.handovers = self.handovers.saturating_add(other.handovers);
        self.orders = self.orders.saturating_add(other.orders);
    }
}

/// An interface of this host, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name.
    pub id: InterfaceId,
    /// It has its carrier, as far as we were told.
    pub up: bool,
    /// Its layer-2 handover is complete.
    pub attached: bool,
    /// The layer below called it the strongest, and no other one since.
    pub strongest: bool,
    /// The network wants it to be used, and has named no other one since.
    pub selected: bool,
    /// What it is like. While it is down nothing is known of its signal and of how its network translates, and no warning stands that
    /// it will go down; one that stands was not taken back since by saying that it is up.
    pub properties: InterfaceProperties,
}

impl Interface {
    /// One that is merely mentioned.
    pub(super) fn new(id: InterfaceId) -> Self {
        let properties = InterfaceProperties::default();
        Self { id, up: true, attached: false, strongest: false, selected: false, properties }
    }

    /// Takes in a change. That no other one is the strongest or selected any more is up to the caller.
    pub(super) fn apply(&mut self, fact: InterfaceFact) {
        let properties = &mut self.properties;
        match fact {
            InterfaceFact::Up(kind) => {
                (self.up, self.attached) = (true, true);
                properties.kind = Some(kind);
                properties.going_down = false;
            }
            InterfaceFact::Down => {
                (self.up, self.attached, self.strongest) = (false, false, false);
                (properties.signal, properties.nat64) = (None, None);
                properties.going_down = false;
            }
            InterfaceFact::GoingDown => {
                properties.going_down = true;
                properties.warnings = properties.warnings.saturating_add(1);
            }
            InterfaceFact::HandoverComplete => {
                self.attached = true;
                properties.going_down = false;
                properties.handovers = properties.handovers.saturating_add(1);
            }
            InterfaceFact::Signal(power) => properties.signal = Some(power),
            InterfaceFact::Strongest => self.strongest = true,
            InterfaceFact::Rate(rate) => properties.rate = Some(rate),
            InterfaceFact::Cost(cost) => properties.cost = Some(cost),
            InterfaceFact::Rank(rank) => properties.rank = Some(rank),
            InterfaceFact::Selected => {
                self.selected = true;
                properties.orders = properties.orders.saturating_add(1);
            }
            // Of what is down nothing is known of its network.
            InterfaceFact::Nat64(prefix) => properties.nat64 = prefix.filter(|_| self.up),
        }
    }
}
