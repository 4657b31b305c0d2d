//! Local addresses come and go, and users tell peers of it.

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{Instant, Nat64Prefix};

use super::Endpoint;
use super::own_addresses::Told;
use crate::association::peer_init::Families;
use crate::association::{Association, Translators};
use crate::interface::{AddressChange, AddressChangeError, AssociationId, Event};

impl Endpoint {
    /// A local address has come up, or has got a way out that it lacked. It is used by new associations and by those that it
    /// already belongs to; others are told of it by [`Command::ChangeAddresses`](crate::Command::ChangeAddresses).
    pub fn address_up(&mut self, now: Instant, address: SocketAddr) {
        self.locals.handle_up(now, address);
        self.tell_links(|association, locals| association.address_up(now, address, locals));
    }

    /// A local address has gone down: from it nothing is sent any more, but it belongs to its associations until it is deleted.
    pub fn address_down(&mut self, now: Instant, address: SocketAddr) {
        self.locals.handle_down(now, address.ip());
        self.tell_links(|association, locals| association.address_down(now, address, locals));
    }

    /// What IPv4 addresses are called in the networks of these local addresses (NAT64, RFC 6052): everything that is known of it. A peer
    /// that has IPv4 alone is tried by these names when no IPv4 address is left here.
    pub fn set_nat64(&mut self, now: Instant, prefixes: impl IntoIterator<Item = (IpAddr, Nat64Prefix)>) {
        let translators = Translators::new(prefixes);
        self.locals.set_translators(translators.clone());
        self.tell_links(|association, _| association.translators_changed(now, &translators));
    }

    /// These addresses of ours are metered, and no others: where several paths carry data at once (`Config::multipath`), those from there do not, but for the
    /// primary path, while another one works.
    pub fn spare_addresses(&mut self, now: Instant, association: AssociationId, addresses: Vec<IpAddr>) {
        if let Some(found) = self.table.touch_by_id(association) {
            found.spare_addresses(now, addresses);
        }
    }

    /// The addresses that the INIT ACK has not named are put to use as far as the peer can learn of them, and those that it has named and that
    /// are gone by now are gone for the association.
    pub(super) fn complete_addresses(&mut self, now: Instant, index: usize, told: &Told, families: Families) {
        let Some(association) = self.table.get_mut(index) else { return };
        let locals = self.locals.all();
        told.omitted.iter().chain(&told.later).for_each(|&new| association.address_up(now, new, locals));
        let usable = told.omitted.iter().copied().filter(|omitted| families.include(omitted.ip()));
        association.add_omitted(now, usable.collect());
        told.gone.iter().for_each(|&gone| association.address_down(now, gone, locals));
    }

    fn tell_links(&mut self, mut tell: impl FnMut(&mut Association, &[SocketAddr])) {
        for index in self.table.indices() {
            let Some(association) = self.table.touch(index) else { continue };
            tell(association, self.locals.all());
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
