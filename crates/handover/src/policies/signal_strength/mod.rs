//! Address management from signal strength: the paper by Chang, Lee and Koh (c04 section 2.1).
//!
//! [`AddressManagement`] is the paper's module with its table, signals and rules and nothing else. [`SignalStrength`] makes its signals
//! out of link facts, and wishes out of its triggers.

mod management;
mod thresholds;

use core::net::IpAddr;

use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, LinkFact, ReceivedPower};

pub use self::management::{AddressManagement, Change, LayerTwoHandover, Level, Row, Signal, Trigger};
pub use self::thresholds::{Thresholds, TwoRayGround, primary_threshold};
use crate::{Fact, Governed, Judge, Need, Pace, Reason, View, Want, Wish};

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
                if let Some(interface) = interface {
                    // An interface that nobody says anything about is taken to be attached.
                    if view.interface(interface).is_none_or(|i| i.attached || i.signal.is_none()) {
                        self.signal(Signal::L2hc(interface));
                    }
                    self.signal(Signal::Ipac(interface, address));
                }
            }
            Fact::Link(LinkFact::AddressDown(address)) => {
                self.signal(Signal::AddressLost(address.ip()));
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
        for local in view.addresses.iter().filter(|local| local.up) {
            let Some(interface) = view.interface(local.interface) else { continue };
            if let Some(power) = interface.signal {
                self.read(interface.id, power);
            } else {
                self.signal(Signal::L2ss(interface.id, Change::AppearsStrong));
            }
            self.signal(Signal::L2hc(interface.id));
            self.signal(Signal::Ipac(interface.id, local.address));
        }
        let primary = view.primary();
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
        let primary =
            self.primary.map(|local| Want { local, need: Need::Necessity, reason: Reason::SignalFading });
        Wish { primary, addresses: self.wanted.clone() }
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
