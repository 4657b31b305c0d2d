//! Buffers for large messages, used again and again.
//!
//! A C library gives memory of this size back to the system when it is freed, and the system has to clear fresh pages
//! for the next message. That costs more than receiving the message does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::memory::Memory;

use bytes::Bytes;

/// Messages from this size on are kept in buffers that return. Smaller pieces stay with the allocator anyway.
const SMALLEST: usize = 1 << 14;
/// Buffer sizes: each twice the one before.
const SIZES: usize = 7;
/// The largest buffer.
const LARGEST: usize = SMALLEST << (SIZES - 1);
/// Bytes of unused buffers kept by an endpoint, at most.
const KEPT: usize = 4 << 20;

/// The unused buffers of an endpoint, shared by its associations and by every message that is still somewhere.
///
/// Which buffer a message lies in has no influence on anything that can be observed, so a lock does no harm to
/// repeatability.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    unused: Arc<Mutex<Unused>>,
    memory: Memory,
}

#[derive(Debug, Default)]
struct Unused {
    by_size: [Vec<Vec<u8>>; SIZES],
    bytes: usize,
}

impl Buffers {
    /// Those of an endpoint with so much `memory` for what peers have sent.
    pub(crate) fn new(memory: Memory) -> Self {
        Self { unused: Arc::default(), memory }
    }

    /// The endpoint's memory for what peers have sent. Unused buffers do not count in it.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// An empty buffer for `capacity` bytes or more, at most twice as many.
    pub(super) fn take(&self, capacity: usize) -> Vec<u8> {
        if !(SMALLEST..=LARGEST).contains(&capacity) {
            return Vec::with_capacity(capacity);
        }
        let capacity = capacity.next_power_of_two();
        let mut unused = self.lock();
        match unused.by_size[size(capacity)].pop() {
            Some(buffer) => {
                unused.bytes -= buffer.capacity();
                buffer
            }
            None => {
                drop(unused);
                Vec::with_capacity(capacity)
            }
        }
    }

    /// The content of a buffer, for the user. A large buffer comes back when the last reference to it is dropped.
    pub(super) fn lend(&self, mut buffer: Vec<u8>) -> Bytes {
        if buffer.capacity() / 2 > buffer.len() {
            // Capacity that a message would keep for nothing while the user holds it.
            buffer.shrink_to_fit();
        }
        if (SMALLEST..2 * LARGEST).contains(&buffer.capacity()) {
            Bytes::from_owner(Lent { buffer, home: self.clone() })
        } else {
            Bytes::from(buffer)
        }
    }

    fn lock(&self) -> MutexGuard<'_, Unused> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size class of a buffer: the largest that it has room for.
fn size(capacity: usize) -> usize {
    (capacity / SMALLEST).ilog2() as usize
}

/// A message in a buffer that is to come back.
struct Lent {
    buffer: Vec<u8>,
    home: Buffers,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut buffer = core::mem::take(&mut self.buffer);
        let mut unused = self.home.lock();
        if unused.bytes + buffer.capacity() <= KEPT {
            buffer.clear();
            unused.bytes += buffer.capacity();
            unused.by_size[size(buffer.capacity())].push(buffer);
        }
    }
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
