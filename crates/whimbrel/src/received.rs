//! What was received and waits for the user, and what of it goes back to the receive window.

use std::collections::VecDeque;

use whimbrel_proto::Received;

/// What the reader finds.
pub(crate) enum Item {
    Message(Received),
    /// What came before is of the peer's former life.
    Restarted,
}

/// Messages on their way to the user, in the order of their arrival.
///
/// Bounded by the receive window, since bytes are given back to it only when they are taken. A restart begins with an
/// open window although the user may still have all of the former life to read, and a peer can restart as often as
/// it likes: so only the present life and the one that the user was reading are kept, and bytes of the latter open
/// nobody's window.
#[derive(Default)]
pub(crate) struct ReceivedQueue {
    items: VecDeque<Item>,
    /// A restart has not been read yet; there is never more than one.
    restart_waits: bool,
    /// Bytes of the present life that were taken and not yet given back.
    taken: usize,
}

impl ReceivedQueue {
    pub(crate) fn push(&mut self, received: Received) {
        self.items.push_back(Item::Message(received));
    }

    /// Notes a message that nobody will read.
    pub(crate) fn pass_over(&mut self, received: &Received) {
        self.taken += received.payload.len();
    }

    /// The peer has restarted. If the user has not read of an earlier restart yet, the life between them is
    /// forgotten: it may have lost messages anyway.
    pub(crate) fn restarted(&mut self) {
        self.taken = 0;
        if self.restart_waits {
            let restart = self.items.iter().position(|item| matches!(item, Item::Restarted));
            self.items.truncate(restart.map_or(0, |at| at + 1));
        } else {
            self.items.push_back(Item::Restarted);
            self.restart_waits = true;
        }
    }

    /// The next item, which counts as taken.
    pub(crate) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        match &item {
            Item::Message(received) if !self.restart_waits => self.taken += received.payload.len(),
            Item::Message(_) => {}
            Item::Restarted => self.restart_waits = false,
        }
        Some(item)
    }

    /// Whether the next item is a restart.
    pub(crate) fn restart_is_next(&self) -> bool {
        matches!(self.items.front(), Some(Item::Restarted))
    }

    /// Takes everything at once, for nobody.
    pub(crate) fn pop_all(&mut self) -> VecDeque<Item> {
        let mut dropped = VecDeque::with_capacity(self.items.len());
        while let Some(item) = self.pop() {
            dropped.push_back(item);
        }
        dropped
    }

    /// Bytes taken and not yet given back to the receive window.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// As [`ReceivedQueue::taken`]; they are given back now.
    pub(crate) fn give_back(&mut self) -> usize {
        core::mem::take(&mut self.taken)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}
