use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::sync::oneshot;
use whimbrel_proto::{AddressChange, AddressChangeError, Mobility};

use crate::shared::lock;

/// The peer's answer to a change of our addresses.
pub(crate) type Outcome = Result<(), AddressChangeError>;

/// An association's changes of address that wait for the peer's answer, and whether there can be any.
pub(crate) struct Changes(Mutex<State>);

struct State {
    mobility: Mobility,
    /// In the order in which they were given.
    waiting: VecDeque<(AddressChange, oneshot::Sender<Outcome>)>,
    closed: bool,
}

impl Changes {
    pub(crate) fn new(mobility: Mobility) -> Self {
        Self(Mutex::new(State { mobility, waiting: VecDeque::new(), closed: false }))
    }

    pub(crate) fn mobility(&self) -> Mobility {
        lock(&self.0).mobility
    }

    pub(crate) fn set_mobility(&self, mobility: Mobility) {
        lock(&self.0).mobility = mobility;
    }

    /// To be called before the command is given; the receivers are for the answers, in order. `command` runs under the lock,
    /// so that the commands of several tasks are given in the order in which the answers are awaited.
    pub(crate) fn expect(
        &self,
        changes: &[AddressChange],
        command: impl FnOnce(),
    ) -> Vec<oneshot::Receiver<Outcome>> {
        let mut state = lock(&self.0);
        if state.closed {
            // The senders are dropped, which says it.
            return changes.iter().map(|_| oneshot::channel().1).collect();
        }
        // Who gave up waiting is forgotten once the answer comes; a change that is never answered ends with the association.
        let receivers = changes.iter().map(|change| {
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back((*change, sender));
            receiver
        });
        let receivers = receivers.collect();
        command();
        receivers
    }

    /// The answer to the oldest change of this kind. A policy's changes are answered too, and nobody waits for those.
    pub(crate) fn answered(&self, change: &AddressChange, outcome: Outcome) {
        let mut state = lock(&self.0);
        let Some(place) = state.waiting.iter().position(|(waiting, _)| waiting == change) else { return };
        let answered = state.waiting.remove(place);
        drop(state);
        if let Some((_, sender)) = answered {
            let _ = sender.send(outcome);
        }
    }

    /// No answer will come any more.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.0);
        state.closed = true;
        let dropped = core::mem::take(&mut state.waiting);
        drop(state);
        drop(dropped);
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
