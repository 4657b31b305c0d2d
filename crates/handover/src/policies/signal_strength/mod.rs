//! Address management from signal strength: the paper by Chang, Lee and Koh (c04 section 2.1).
//!
//! [`AddressManagement`] is the paper's module with its table, signals and rules and nothing else. [`SignalStrength`] makes its signals
//! out of link facts, and wishes out of its triggers.

mod management;
mod thresholds;

use core::net::IpAddr;

use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, LinkFact, ReceivedPower};

pub use self::management::{AddressManagement, Change, LayerTwoHandover, Level, Row, Signal, Trigger};
pub use self::thresholds::{Thresholds, primary_threshold};
use crate::{Fact, Governed, Judge, LocalAddress, Need, Pace, Reason, View, Want, Wish};

/// Adds addresses as early as possible, keeps them as long as they can be heard, and changes to the strongest interface when the
/// one in use falls below Primary-TH.
#[derive(Clone, Debug)]
pub struct SignalStrength {
    thresholds: Thresholds,
    management: AddressManagement,
    /// The last reading of each interface; bounded by the table.
    readings: Vec<(InterfaceId, ReceivedPower)>,
    /// Addresses that the rules want in the association.
    wanted: Vec<IpAddr>,
    primary: Option<IpAddr>,
}

impl SignalStrength {
    /// A judge with these thresholds and this kind of layer-2 handover.
    pub fn new(thresholds: Thresholds, handover: LayerTwoHandover) -> Self {
        Self {
            thresholds,
            management: AddressManagement::new(handover),
            readings: Vec::new(),
            wanted: Vec::new(),
            primary: None,
        }
    }

    /// As a policy. With [`Pace::AT_ONCE`] it is the paper's.
    pub fn policy(thresholds: Thresholds, handover: LayerTwoHandover, pace: Pace) -> Governed<Self> {
        Governed::new(Self::new(thresholds, handover), pace)
    }

    /// The paper's module.
    pub const fn management(&self) -> &AddressManagement {
        &self.management
    }

    fn note(&mut self, fact: &Fact, view: &View<'_>) {
        match *fact {
            Fact::Begun => self.begin(view),
            Fact::Link(LinkFact::AddressUp(address)) => {
                let interface = view.address(address.ip()).map(|local| local.interface);
                if let Some(interface) = interface.filter(|_| view.reaches(address.ip())) {
                    // An interface that nobody says anything about is taken to be attached.
                    if view.interface(interface).is_none_or(|i| i.attached || i.properties.signal.is_none()) {
                        self.signal(Signal::L2hc(interface));
                    }
                    self.signal(Signal::Ipac(interface, address));
                }
            }
            Fact::Link(LinkFact::AddressDown(address)) => {
                self.signal(Signal::AddressLost(address.ip()));
                // Another one is as good, if the interface has any.
                let empty = |id| {
                    self.management.table().iter().any(|row| row.interface == id && row.address.is_none())
                };
                let interface =
                    view.address(address.ip()).map(|local| local.interface).filter(|&id| empty(id));
                let beside = view.addresses.iter().find(|local| {
                    Some(local.interface) == interface && local.up && view.reaches(local.address.ip())
                });
                if let Some(local) = beside {
                    self.signal(Signal::Ipac(local.interface, local.address));
                }
            }
            Fact::Link(LinkFact::Interface { interface, fact }) => self.note_interface(interface, fact),
            _ => {}
        }
    }

    fn note_interface(&mut self, interface: InterfaceId, fact: InterfaceFact) {
        match fact {
            InterfaceFact::Up(_) | InterfaceFact::HandoverComplete => self.signal(Signal::L2hc(interface)),
            InterfaceFact::Down => {
                self.read(interface, ReceivedPower::NONE);
                self.readings.retain(|(id, _)| *id != interface);
            }
            InterfaceFact::Signal(power) => self.read(interface, power),
            InterfaceFact::Strongest => self.signal(Signal::MaxIn(interface)),
            _ => {}
        }
    }

    /// Makes L2SS and Max-IN out of a reading.
    fn read(&mut self, interface: InterfaceId, power: ReceivedPower) {
        match self.readings.iter().position(|(id, _)| *id == interface) {
            Some(at) => self.readings[at].1 = power,
            None if self.readings.len() < management::MAX_ROWS => self.readings.push((interface, power)),
            None => return,
        }
        // Who is the strongest comes first, so that a rise to the top counts as one event.
        let strongest = self.readings.iter().max_by_key(|(id, power)| (*power, core::cmp::Reverse(*id)));
        if let Some(&(strongest, _)) = strongest
            && self.management.strongest() != Some(strongest)
        {
            self.signal(Signal::MaxIn(strongest));
        }
        let before = self.management.level(interface);
        if let Some(change) = Change::between(before, self.thresholds.level(power)) {
            self.signal(Signal::L2ss(interface, change));
        }
    }

    /// What is in the association when it begins: attached, addressed, and strong unless a reading says otherwise.
    fn begin(&mut self, view: &View<'_>) {
        let primary = view.primary();
        let mut locals: Vec<&LocalAddress> = view.addresses.iter().filter(|local| local.up).collect();
        locals.retain(|local| view.reaches(local.address.ip()));
        // Of two IP versions the one in use counts.
        let in_use = |local: &LocalAddress| primary.is_some_and(|ip| ip.is_ipv4() == local.address.is_ipv4());
        locals.sort_by_key(|local| (Some(local.address.ip()) != primary, !in_use(local)));
        for local in locals {
            let Some(interface) = view.interface(local.interface) else { continue };
            if let Some(power) = interface.properties.signal {
                self.read(interface.id, power);
            } else {
                self.signal(Signal::L2ss(interface.id, Change::AppearsStrong));
            }
            self.signal(Signal::L2hc(interface.id));
            self.signal(Signal::Ipac(interface.id, local.address));
        }
        self.primary = primary;
        self.management.set_primary(primary.and_then(|ip| Some(view.address(ip)?.interface)));
    }

    fn signal(&mut self, signal: Signal) {
        for trigger in self.management.on_signal(signal) {
            match trigger {
                Trigger::AddIp(_, address) => {
                    if !self.wanted.contains(&address.ip()) {
                        self.wanted.push(address.ip());
                    }
                }
                Trigger::SetPrimary(_, address) => self.primary = Some(address.ip()),
                Trigger::DeleteIp(_, address) => self.wanted.retain(|&ip| ip != address.ip()),
            }
        }
    }
}

impl Judge for SignalStrength {
    fn judge(&mut self, _now: Instant, fact: &Fact, view: &View<'_>) -> Wish {
        self.note(fact, view);
        let need = self.need(view);
        let primary = self.primary.map(|local| Want { local, need, reason: Reason::SignalFading });
        let beside = view.addresses.iter().filter(|local| self.stands_beside(local, view));
        let addresses = self.wanted.iter().copied().chain(beside.map(|local| local.address.ip()));
        Wish { primary, addresses: addresses.collect() }
    }
}

impl SignalStrength {
    /// A signal that is merely weak still carries: time enough for the pace that was set, which may well be none.
    fn need(&self, view: &View<'_>) -> Need {
        let current = view.primary().filter(|&ip| view.usable_path(ip).is_some());
        let interface = current.and_then(|ip| view.interface_of(ip));
        let heard =
            interface.is_some_and(|i| !i.properties.going_down && self.management.level(i.id) != Level::None);
        if heard { Need::Advantage } else { Need::Necessity }
    }

    /// Whether the table has nothing to say about an address: it is of the other IP version than the one in its interface's row, and
    /// stays and goes with that; or of no use to this peer.
    fn stands_beside(&self, local: &LocalAddress, view: &View<'_>) -> bool {
        let row = self.management.table().iter().find(|row| row.interface == local.interface);
        let other = |row: &Row| row.added.is_some_and(|added| added.is_ipv4() != local.address.is_ipv4());
        row.is_some_and(other) || !view.reaches(local.address.ip())
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
