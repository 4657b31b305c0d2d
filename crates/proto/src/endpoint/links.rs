//! Local addresses come and go, and users tell peers of it.

use core::net::SocketAddr;

use whimbrel_machine::Instant;

use super::Endpoint;
use crate::association::Association;
use crate::interface::{AddressChange, AddressChangeError, AssociationId, Event};

impl Endpoint {
    /// A local address has come up, or has got a way out that it lacked. It is used by new associations and by those that it
    /// already belongs to; others are told of it by [`Command::ChangeAddresses`](crate::Command::ChangeAddresses).
    pub fn address_up(&mut self, now: Instant, address: SocketAddr) {
        match self.locals.iter_mut().find(|local| local.ip() == address.ip()) {
            Some(known) => *known = address,
            None => {
                self.came_up.push((address, now));
                self.locals.push(address);
            }
        }
        self.tell_links(|association, locals| association.address_up(now, address, locals));
    }

    /// A local address has gone down: from it nothing is sent any more, but it belongs to its associations until it is deleted.
    pub fn address_down(&mut self, now: Instant, address: SocketAddr) {
        self.came_up.retain(|(up, _)| up.ip() != address.ip());
        self.locals.retain(|local| local.ip() != address.ip());
        self.tell_links(|association, locals| association.address_down(now, address, locals));
    }

    /// Those of our addresses that the INIT ACK with a cookie made at `created` has named, and those that have come up since.
    pub(super) fn locals_since(&self, created: Instant) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        let new =
            |local: &SocketAddr| self.came_up.iter().any(|&(up, at)| up.ip() == local.ip() && at > created);
        self.locals.iter().partition(|local| !new(local))
    }

    fn tell_links(&mut self, mut tell: impl FnMut(&mut Association, &[SocketAddr])) {
        for index in self.table.indices() {
            let Some(association) = self.table.touch(index) else { continue };
            tell(association, &self.locals);
            if association.take_addresses_changed() {
                self.table.reindex(index);
            }
        }
    }

    pub(super) fn change_addresses(
        &mut self,
        now: Instant,
        association: AssociationId,
        changes: Vec<AddressChange>,
    ) {
        match self.table.touch_by_id(association) {
            Some(found) => found.change_addresses(now, changes),
            None => {
                let outcome = Err(AddressChangeError::Closed);
                let answer = |change| Event::AddressChanged { association, change, outcome };
                self.events.extend(changes.into_iter().map(answer));
            }
        }
    }
}
