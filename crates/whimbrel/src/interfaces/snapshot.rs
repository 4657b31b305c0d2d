//! From interfaces as sources know them, by name, to the links that the machine compares.

use std::collections::BTreeMap;

use core::num::NonZeroU32;

use whimbrel_machine::{InterfaceId, InterfaceProperties, Links, ReceivedPower};

use super::{Interface, Interfaces};

/// Numbers given to interfaces for which the system has none; the kernel's begin at 1 and rise one by one.
const OWN_NUMBERS: u32 = 1 << 31;

/// Remembers which number each name has.
#[derive(Default)]
pub(crate) struct LinkWriter {
    known: BTreeMap<String, Known>,
    numbers: u32,
}

#[derive(Clone, Copy)]
struct Known {
    id: InterfaceId,
    /// What was last said of it.
    said: InterfaceProperties,
}

impl LinkWriter {
    /// Brings `links` up to date, which address is open excepted.
    pub(crate) fn write(&mut self, interfaces: &Interfaces, links: &mut Links) {
        // First all that go: names may have moved on by one number.
        for (name, known) in &self.known {
            let stays = |interface: &Interface| {
                interface.index.is_none_or(|index| known.id == InterfaceId(index.get()))
            };
            if !interfaces.0.get(name).is_some_and(stays) {
                lose(known.id, links);
            }
        }
        self.known.retain(|name, _| interfaces.0.contains_key(name));
        for (name, interface) in &interfaces.0 {
            self.write_one(name, interface, links);
        }
        self.place_addresses(interfaces, links);
        links.set_strongest(self.strongest(interfaces));
    }

    fn write_one(&mut self, name: &str, interface: &Interface, links: &mut Links) {
        let said = interface.properties;
        let (id, before) = match self.known.get(name) {
            // Taken out and put back under the same name, it is another one.
            Some(known) if interface.index.is_none_or(|index| known.id == InterfaceId(index.get())) => {
                (known.id, known.said)
            }
            _ => (self.number(interface.index), InterfaceProperties::default()),
        };
        self.known.insert(name.to_owned(), Known { id, said });
        let up = interface.is_present();
        // A warning that a loss or a handover has overtaken counts no more, whoever still says it, until it is said anew.
        let warned_anew = said.warnings > before.warnings || !before.going_down;
        let stands = links.interface(id).is_some_and(|now| {
            up && now.up && now.properties.going_down && said.handovers <= now.properties.handovers
        });
        let going_down = said.going_down && (warned_anew || stands);
        links.set_interface(id, up, InterfaceProperties { going_down, ..said });
    }

    fn place_addresses(&self, interfaces: &Interfaces, links: &mut Links) {
        for (ip, holder) in interfaces.holders() {
            if let Some(known) = self.known.get(holder) {
                links.place(ip, known.id);
            }
        }
    }

    fn strongest(&self, interfaces: &Interfaces) -> Option<InterfaceId> {
        let mut strongest: Option<(ReceivedPower, &str)> = None;
        let present = interfaces.0.iter().filter(|(_, interface)| interface.is_present());
        for (name, signal) in present.filter_map(|(name, one)| Some((name, one.properties.signal?))) {
            if strongest.is_none_or(|(best, _)| signal > best) {
                strongest = Some((signal, name));
            }
        }
        strongest.and_then(|(_, name)| self.known.get(name)).map(|known| known.id)
    }

    fn number(&mut self, index: Option<NonZeroU32>) -> InterfaceId {
        match index {
            Some(index) => InterfaceId(index.get()),
            None => {
                self.numbers = (self.numbers + 1) % (InterfaceId::NAMELESS - OWN_NUMBERS);
                InterfaceId(OWN_NUMBERS | self.numbers)
            }
        }
    }
}

/// What was said of an interface still holds when it comes back.
fn lose(id: InterfaceId, links: &mut Links) {
    if let Some(properties) = links.interface(id).map(|interface| interface.properties) {
        links.set_interface(id, false, properties);
    }
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
