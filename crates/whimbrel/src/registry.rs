use std::sync::Arc;

use rustc_hash::FxHashMap;
use whimbrel_proto::{AssociationId, CloseReason};

use crate::mailbox::Mailbox;

/// The associations that exist, by their number.
#[derive(Default)]
pub(crate) struct Registry {
    mailboxes: FxHashMap<u64, Arc<Mailbox>>,
    /// The machine has work to do although nothing has come from outside.
    pub(crate) urgent: bool,
}

impl Registry {
    pub(crate) fn insert(&mut self, mailbox: Arc<Mailbox>) {
        self.mailboxes.insert(mailbox.id.number(), mailbox);
    }

    pub(crate) fn get(&self, association: AssociationId) -> Option<&Mailbox> {
        self.mailboxes.get(&association.number()).map(|mailbox| &**mailbox)
    }

    pub(crate) fn remove(&mut self, association: AssociationId) {
        self.mailboxes.remove(&association.number());
    }

    pub(crate) fn take_urgent(&mut self) -> bool {
        core::mem::take(&mut self.urgent)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.mailboxes.is_empty()
    }

    /// All mailboxes, oldest association first.
    pub(crate) fn all(&self) -> Vec<Arc<Mailbox>> {
        let mut all: Vec<_> = self.mailboxes.values().cloned().collect();
        all.sort_by_key(|mailbox| mailbox.id);
        all
    }

    /// Ends every association at once: there is nobody left to carry them on.
    pub(crate) fn fail_all(&mut self, reason: &CloseReason) {
        for mailbox in core::mem::take(&mut self.mailboxes).into_values() {
            let mut delivery = mailbox.deliver();
            delivery.closed(reason.clone(), 0);
            delivery.finish();
        }
    }
}
