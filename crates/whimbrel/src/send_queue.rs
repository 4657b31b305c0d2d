//! What an association's user has handed over and the peer has not acknowledged.

/// What each message costs besides its payload, so that the send buffer bounds memory however small the messages are.
const OVERHEAD: usize = 64;
/// However small the buffer, so many messages are accepted.
const MIN_MESSAGES: usize = 16;

/// Bytes and messages that count against the send buffer.
#[derive(Default, Debug)]
pub(crate) struct SendQueue {
    bytes: usize,
    messages: usize,
}

impl SendQueue {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a message of `bytes` may be added to a buffer of `limit` bytes. One larger than the whole buffer goes
    /// alone.
    pub(crate) fn has_room(&self, bytes: usize, limit: usize) -> bool {
        self.bytes == 0 || (self.bytes.saturating_add(bytes) <= limit && self.messages < messages_max(limit))
    }

    /// Whether a quarter of the buffer is free.
    pub(crate) fn is_roomy(&self, limit: usize) -> bool {
        let messages = messages_max(limit);
        self.bytes <= limit - limit / 4 && self.messages <= messages - messages / 4
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.messages += 1;
    }

    /// The peer has acknowledged `bytes`. Which messages they were is not said, so the messages go down in proportion.
    pub(crate) fn credit(&mut self, bytes: usize) {
        let left = self.bytes.saturating_sub(bytes);
        let messages = (self.messages as u128 * left as u128).div_ceil(self.bytes.max(1) as u128);
        (self.bytes, self.messages) = (left, messages as usize);
    }
}

fn messages_max(limit: usize) -> usize {
    limit.div_ceil(OVERHEAD).max(MIN_MESSAGES)
}

#[cfg(test)]
#[path = "send_queue_tests.rs"]
mod tests;
