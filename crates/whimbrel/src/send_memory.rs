//! The memory of an endpoint for what its user sends and peers have not acknowledged.

use std::sync::atomic::{AtomicUsize, Ordering};

use whimbrel_proto::LimitConfig;

/// What all associations of an endpoint may hold together, unless the user says otherwise.
pub(crate) const USUAL: usize = 256 << 20;

/// What associations may hold: each no more than its send buffer, and no more than half of what the others leave. So n that want all
/// they can get have an (n + 1)th each, and a peer that acknowledges nothing cannot make us hold more by connecting more often. What
/// peers send is shared by the same rule (decision 29).
#[derive(Debug)]
pub(crate) struct SendMemory {
    per_association: usize,
    first_room: usize,
    total: usize,
    used: AtomicUsize,
}

impl SendMemory {
    /// `total` bytes; at least four times the send buffer, so that one association alone can fill its buffer.
    pub(crate) fn new(limits: &LimitConfig, total: usize) -> Self {
        let per_association = limits.send_buffer;
        let total = total.max(per_association.saturating_mul(4));
        Self { per_association, first_room: limits.send_room(0), total, used: AtomicUsize::new(0) }
    }

    /// What a new association may hold while nothing is known of its paths.
    pub(crate) fn first_room(&self) -> usize {
        self.first_room
    }

    /// The most that an association may hold which holds `own` bytes.
    pub(crate) fn limit(&self, own: usize) -> usize {
        let others = self.used.load(Ordering::Relaxed).saturating_sub(own);
        self.per_association.min(self.total.saturating_sub(others) / 2)
    }

    /// An association that held `before` bytes holds `now`.
    pub(crate) fn change(&self, before: usize, now: usize) {
        // Wraps as it should: what is taken away was added before.
        self.used.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}
