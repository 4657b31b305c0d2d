use std::sync::Arc;

use rustc_hash::FxHashMap;
use whimbrel_machine::Instant;
use whimbrel_proto::{AssociationId, CloseReason, Command};

use crate::mailbox::Mailbox;
use crate::metrics::Moves;

/// The associations that exist, by their number.
#[derive(Default)]
pub(crate) struct Registry {
    entries: FxHashMap<u64, Entry>,
    /// The machine has work to do although nothing has come from outside.
    pub(crate) urgent: bool,
}

/// What the driver keeps of an association.
pub(crate) struct Entry {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) moves: Moves,
}

impl Registry {
    pub(crate) fn insert(&mut self, mailbox: Arc<Mailbox>) {
        let moves = Moves::new(mailbox.setup.primary);
        self.entries.insert(mailbox.id.number(), Entry { mailbox, moves });
    }

    pub(crate) fn get(&self, association: AssociationId) -> Option<&Mailbox> {
        self.entries.get(&association.number()).map(|entry| &*entry.mailbox)
    }

    pub(crate) fn entry(&mut self, association: AssociationId) -> Option<&mut Entry> {
        self.entries.get_mut(&association.number())
    }

    /// These commands are about to be carried out. Neighbours mostly are of the same association.
    pub(crate) fn note_senders<'a>(&mut self, now: Instant, commands: impl Iterator<Item = &'a Command>) {
        let mut last = None;
        for command in commands {
            if let Command::Send { association, .. } = command
                && last != Some(*association)
            {
                last = Some(*association);
                if let Some(entry) = self.entry(*association) {
                    entry.moves.busy(now);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, association: AssociationId) {
        self.entries.remove(&association.number());
    }

    pub(crate) fn take_urgent(&mut self) -> bool {
        core::mem::take(&mut self.urgent)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All mailboxes, oldest association first.
    pub(crate) fn all(&self) -> Vec<Arc<Mailbox>> {
        let mut all: Vec<_> = self.entries.values().map(|entry| Arc::clone(&entry.mailbox)).collect();
        all.sort_by_key(|mailbox| mailbox.id);
        all
    }

    /// Ends every association at once: there is nobody left to carry them on.
    pub(crate) fn fail_all(&mut self, reason: &CloseReason) {
        for Entry { mailbox, .. } in core::mem::take(&mut self.entries).into_values() {
            let mut delivery = mailbox.deliver();
            delivery.closed(reason.clone(), 0);
            delivery.finish();
        }
    }
}
