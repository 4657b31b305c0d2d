//! The memory of an endpoint for what peers have sent.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use crate::association::peer_init::LEAST_A_RWND;

/// What all associations of an endpoint may hold together, and do.
///
/// It is shared by one rule: nobody takes more than half of what the others have left. So one association gets no more than half of
/// everything, and n that want all they can get have an (n + 1)th each, whoever came first; the last part is always there for whoever
/// comes next. (Switches share the memory of their ports so: Choudhury and Hahne, dynamic queue length thresholds.) Without
/// competition the limit is far beyond any receive buffer and nothing is noticed of it.
///
/// The endpoint is the only one to use it, so that no operation has to be atomic together with another.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Total>);

#[derive(Debug)]
struct Total {
    limit: usize,
    used: AtomicUsize,
}

impl Default for Memory {
    /// More than there is.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Memory {
    /// `limit` bytes for what peers have sent, bookkeeping included.
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Total { limit, used: AtomicUsize::new(0) }))
    }

    /// Bytes in use.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Whether more than three quarters are in use.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.used() > self.0.limit / 4 * 3
    }

    /// Whether less than half is in use: there is ample room again.
    pub(crate) fn is_ample(&self) -> bool {
        self.used() < self.0.limit / 2
    }

    /// The a_rwnd of a new association with this receive `buffer`, and what it may take now: at least as much as an INIT must offer (RFC
    /// 9260 §3.3.2).
    pub(crate) fn offer(&self, buffer: usize) -> u32 {
        buffer.min((self.free() / 2).max(LEAST_A_RWND as usize)) as u32
    }

    fn free(&self) -> usize {
        self.0.limit.saturating_sub(self.used())
    }
}

/// What one association holds of it.
#[derive(Debug)]
pub(super) struct Share {
    memory: Memory,
    held: usize,
}

impl Share {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, held: 0 }
    }

    /// The association holds so many bytes now.
    #[inline]
    pub(super) fn set(&mut self, held: usize) {
        let used = self.memory.used() - self.held + held;
        self.memory.0.used.store(used, Ordering::Relaxed);
        self.held = held;
    }

    /// Bytes that may be added.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.left_without(0)
    }

    /// As [`Self::left`], if `dropped` bytes were not held.
    #[inline]
    pub(super) fn left_without(&self, dropped: usize) -> usize {
        let held = self.held.saturating_sub(dropped);
        self.memory.free().saturating_add(dropped).saturating_sub(held) / 2
    }

    /// Whether `bytes` may be added when `dropped` are no longer held. Who holds nothing then may take anything that there is.
    #[inline]
    pub(super) fn admits(&self, bytes: usize, dropped: usize) -> bool {
        let alone = self.held <= dropped && bytes <= self.memory.free().saturating_add(dropped);
        alone || bytes <= self.left_without(dropped)
    }

    #[cfg(any(debug_assertions, test, fuzzing))]
    pub(super) fn held(&self) -> usize {
        self.held
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
