//! Partial delivery (RFC 9260 §6.9).

use super::Reassembly;
use crate::interface::Part;

impl Reassembly {
    /// Partial delivery of whatever has been built, because nothing more fits the buffer.
    pub(in crate::receive) fn deliver_unfinished(&mut self) {
        self.deliver_part(0);
    }

    /// Partial delivery (RFC 9260 §6.9): a message that alone takes most of the buffer could never be completed.
    pub(super) fn deliver_part_if_large(&mut self) {
        let Some(building) = &self.building else { return };
        self.deliver_part(if building.partial { self.further_part } else { self.first_part });
    }

    /// Partial delivery of the message being built, if its turn has come and more than `enough` bytes of it are here.
    fn deliver_part(&mut self, enough: usize) {
        let Some(building) = &self.building else { return };
        if self.refuses_parts() || building.payload.len() <= enough || !self.is_turn(&building.header) {
            return;
        }
        let Some(building) = &mut self.building else { return };
        let part = if building.partial { Part::Middle } else { Part::First };
        building.partial = true;
        let (header, payload) = (building.header, core::mem::take(&mut building.payload));
        let payload = self.buffers.lend(payload);
        self.deliver(&header, part, payload);
    }
}
