//! User data that comes in from the user, and that the user has read.

use whimbrel_machine::Instant;

use super::Endpoint;
use crate::interface::{AssociationId, Event, Message, SendError};

impl Endpoint {
    pub(super) fn send(&mut self, id: AssociationId, message: Message) {
        let result = match self.table.by_id_mut(id) {
            Some(association) => association.send(message),
            None => Err((message, SendError::Closed)),
        };
        match result {
            Ok(true) => self.with(id, |_| {}),
            Ok(false) => {}
            Err((message, error)) => {
                self.events.push_back(Event::SendRefused { association: id, message, error });
            }
        }
    }

    /// The user has read. That comes after every message, and mostly lets nothing out.
    pub(super) fn release(&mut self, now: Instant, id: AssociationId, bytes: usize) {
        if self.table.by_id_mut(id).is_some_and(|association| association.release(now, bytes)) {
            self.with(id, |_| {});
        }
        // What was read may have been in the way of whoever waits for the turn.
        self.pass_the_turn(now);
    }
}
