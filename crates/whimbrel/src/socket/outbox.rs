use std::collections::VecDeque;

use whimbrel_machine::Transmit;

/// Bytes that may wait for a socket to become writable; what does not fit is dropped, as a full queue on the way would.
const CAPACITY: usize = 4 << 20;

/// Trains waiting for the system to take them.
#[derive(Default, Debug)]
pub(super) struct Outbox {
    trains: VecDeque<(Transmit, Box<[u8]>)>,
    bytes: usize,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    pub(super) fn push(&mut self, transmit: Transmit, bytes: &[u8]) {
        if self.bytes + bytes.len() <= CAPACITY {
            self.bytes += bytes.len();
            self.trains.push_back((transmit, bytes.into()));
        }
    }

    pub(super) fn pop(&mut self) -> Option<(Transmit, Box<[u8]>)> {
        let train = self.trains.pop_front()?;
        self.bytes -= train.1.len();
        Some(train)
    }

    /// Puts the rest of a train back to the front.
    pub(super) fn put_back(&mut self, transmit: Transmit, rest: &[u8]) {
        self.bytes += rest.len();
        self.trains.push_front((transmit, rest.into()));
    }
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
