//! What an association's user has handed over and the peer has not acknowledged.

use std::sync::Arc;

use crate::send_memory::SendMemory;

/// What each message costs besides its payload, so that the send buffer bounds memory however small the messages are.
const OVERHEAD: usize = 64;
/// However small the buffer, so many messages are accepted.
const MIN_MESSAGES: usize = 16;

/// Bytes and messages that count against the send buffer, and against the memory of the endpoint.
#[derive(Debug)]
pub(crate) struct SendQueue {
    memory: Arc<SendMemory>,
    /// What the path needs, in bytes; less than the send buffer may have.
    room: usize,
    bytes: usize,
    messages: usize,
}

impl SendQueue {
    pub(crate) fn new(memory: Arc<SendMemory>) -> Self {
        let room = memory.first_room();
        Self { memory, room, bytes: 0, messages: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a message of `bytes` may be added: one while less waits than the path needs, if the send buffer has room. One larger than that
    /// goes alone.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let limit = self.limit();
        let fits = self.bytes.saturating_add(bytes) <= limit && self.bytes < self.room;
        self.bytes == 0 || (fits && self.messages < messages_max(limit.min(self.room)))
    }

    /// Whether a quarter of what may wait is free.
    pub(crate) fn is_roomy(&self) -> bool {
        let limit = self.limit().min(self.room);
        let messages = messages_max(limit);
        self.bytes <= limit - limit / 4 && self.messages <= messages - messages / 4
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.set(self.bytes + bytes, self.messages + 1);
    }

    /// So many bytes may wait from now on.
    pub(crate) fn set_room(&mut self, bytes: usize) {
        self.room = bytes;
    }

    /// The peer has acknowledged `bytes`. Which messages they were is not said, so the messages go down in proportion.
    pub(crate) fn credit(&mut self, bytes: usize) {
        let left = self.bytes.saturating_sub(bytes);
        let messages = (self.messages as u128 * left as u128).div_ceil(self.bytes.max(1) as u128);
        self.set(left, messages as usize);
    }

    /// The association has ended: nothing is held any more.
    pub(crate) fn clear(&mut self) {
        self.set(0, 0);
    }

    fn limit(&self) -> usize {
        self.memory.limit(self.cost())
    }

    fn cost(&self) -> usize {
        self.bytes + self.messages * OVERHEAD
    }

    fn set(&mut self, bytes: usize, messages: usize) {
        let before = self.cost();
        (self.bytes, self.messages) = (bytes, messages);
        self.memory.change(before, self.cost());
    }
}

impl Drop for SendQueue {
    fn drop(&mut self) {
        self.clear();
    }
}

fn messages_max(limit: usize) -> usize {
    limit.div_ceil(OVERHEAD).max(MIN_MESSAGES)
}

#[cfg(test)]
#[path = "send_queue_tests.rs"]
mod tests;
