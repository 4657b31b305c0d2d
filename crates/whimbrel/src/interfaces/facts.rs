//! From what the interfaces are like now and were like before to the facts that the machine is told.

use std::collections::BTreeMap;

use core::net::IpAddr;
use core::num::NonZeroU32;

use whimbrel_machine::{
    Cost, InterfaceFact, InterfaceId, InterfaceKind as MachineKind, LinkFact, ReceivedPower,
};

use super::{Interface, InterfaceKind, Interfaces};

/// Numbers given to interfaces for which the system has none; the kernel's begin at 1 and rise one by one.
const OWN_NUMBERS: u32 = 1 << 31;

/// Remembers what has been told, and tells what is new.
#[derive(Default)]
pub(crate) struct FactTeller {
    told: BTreeMap<String, Told>,
    /// Which interface each address was said to be on.
    addresses: BTreeMap<IpAddr, InterfaceId>,
    strongest: Option<InterfaceId>,
    numbers: u32,
}

struct Told {
    id: InterfaceId,
    interface: Interface,
}

/// Facts in two parts: what comes up is told before addresses come up, what goes down after.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) rising: Vec<LinkFact>,
    pub(crate) falling: Vec<LinkFact>,
}

impl FactTeller {
    /// What is new about the interfaces, the comings and goings of addresses themselves excepted.
    pub(crate) fn tell(&mut self, interfaces: &Interfaces) -> Facts {
        let mut facts = Facts::default();
        let gone: Vec<String> =
            self.told.keys().filter(|name| !interfaces.0.contains_key(*name)).cloned().collect();
        for name in gone {
            if let Some(told) = self.told.remove(&name)
                && told.interface.is_present()
            {
                facts.falling.push(about(told.id, InterfaceFact::Down));
            }
        }
        for (name, interface) in &interfaces.0 {
            self.tell_one(name, interface, &mut facts);
        }
        self.tell_addresses(interfaces, &mut facts);
        self.tell_strongest(interfaces, &mut facts);
        facts
    }

    fn tell_one(&mut self, name: &str, interface: &Interface, facts: &mut Facts) {
        let (id, before) = match self.told.remove(name) {
            // Taken out and put back under the same name, it is another one.
            Some(told) if interface.index.is_none_or(|index| told.id == InterfaceId(index.get())) => {
                (told.id, told.interface)
            }
            Some(told) => {
                facts.falling.push(about(told.id, InterfaceFact::Down));
                (self.number(interface.index), Interface::default())
            }
            None => (self.number(interface.index), Interface::default()),
        };
        let mut rising = |fact| facts.rising.push(about(id, fact));
        let comes_up = interface.is_present() && !before.is_present();
        if comes_up || (interface.is_present() && before.kind != interface.kind) {
            rising(InterfaceFact::Up(kind(interface.kind)));
        }
        if let Some(rank) = interface.rank.filter(|_| before.rank != interface.rank) {
            rising(InterfaceFact::Rank(rank));
        }
        if let Some(metered) = interface.metered.filter(|_| before.metered != interface.metered) {
            rising(InterfaceFact::Cost(if metered { Cost::Metered } else { Cost::Flat }));
        }
        if let Some(rate) =
            interface.bits_per_second.filter(|_| before.bits_per_second != interface.bits_per_second)
        {
            rising(InterfaceFact::Rate(rate));
        }
        // With the interface its signal was forgotten.
        let told = |dbm: &f64| before.signal_dbm == Some(*dbm) && !comes_up;
        if let Some(dbm) = interface.signal_dbm.filter(|dbm| !told(dbm)) {
            rising(InterfaceFact::Signal(ReceivedPower::from_dbm(dbm)));
        }
        if interface.handovers > before.handovers {
            rising(InterfaceFact::HandoverComplete);
        }
        if interface.orders > before.orders {
            rising(InterfaceFact::Selected);
        }
        if interface.going_down && !before.going_down {
            rising(InterfaceFact::GoingDown);
        }
        if before.is_present() && !interface.is_present() {
            facts.falling.push(about(id, InterfaceFact::Down));
        }
        self.told.insert(name.to_owned(), Told { id, interface: interface.clone() });
    }

    fn tell_addresses(&mut self, interfaces: &Interfaces, facts: &mut Facts) {
        let mut now = BTreeMap::new();
        for (name, interface) in &interfaces.0 {
            let Some(told) = self.told.get(name) else { continue };
            for address in &interface.addresses {
                // An address on two interfaces belongs to the one that is up.
                if interface.is_up() || !now.contains_key(&address.ip) {
                    now.insert(address.ip, told.id);
                }
            }
        }
        for (&address, &interface) in &now {
            if self.addresses.get(&address) != Some(&interface) {
                facts.rising.push(LinkFact::AddressOn { interface, address });
            }
        }
        self.addresses = now;
    }

    fn tell_strongest(&mut self, interfaces: &Interfaces, facts: &mut Facts) {
        let mut strongest: Option<(f64, &str)> = None;
        let present = interfaces.0.iter().filter(|(_, interface)| interface.is_present());
        for (name, signal) in present.filter_map(|(name, interface)| Some((name, interface.signal_dbm?))) {
            if strongest.is_none_or(|(best, _)| signal > best) {
                strongest = Some((signal, name));
            }
        }
        let id = strongest.and_then(|(_, name)| self.told.get(name)).map(|told| told.id);
        if let Some(id) = id.filter(|_| id != self.strongest) {
            facts.rising.push(about(id, InterfaceFact::Strongest));
        }
        self.strongest = id;
    }

    fn number(&mut self, index: Option<NonZeroU32>) -> InterfaceId {
        match index {
            Some(index) => InterfaceId(index.get()),
            None => {
                self.numbers = self.numbers.wrapping_add(1) & (OWN_NUMBERS - 1);
                InterfaceId(OWN_NUMBERS | self.numbers)
            }
        }
    }
}

fn about(interface: InterfaceId, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface, fact }
}

fn kind(kind: Option<InterfaceKind>) -> MachineKind {
    match kind {
        Some(InterfaceKind::Ethernet) => MachineKind::Wired,
        Some(InterfaceKind::Wifi) => MachineKind::WirelessLan,
        Some(InterfaceKind::Cellular) => MachineKind::Cellular,
        Some(InterfaceKind::Tunnel | InterfaceKind::Loopback) | None => MachineKind::Other,
    }
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
