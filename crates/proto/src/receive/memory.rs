//! The memory of an endpoint for what peers have sent.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

use crate::association::peer_init::LEAST_A_RWND;

/// What all associations of an endpoint may hold together, and do.
///
/// It is shared by one rule: nobody takes more than half of what the others have left. So one association gets no more than half of
/// everything, and n that want all they can get have an (n + 1)th each, whoever came first; the last part is always there for whoever
/// comes next. (Switches share the memory of their ports so: Choudhury and Hahne, dynamic queue length thresholds.) Without
/// competition the limit is far beyond any receive buffer and nothing is noticed of it.
///
/// Messages that are larger than such a part would wait for each other for ever, each half here. So there is a reserve beside what is shared,
/// for one association at a time, which has the *turn*: what it takes beyond what it had comes out of the reserve, until its message
/// is whole. Who has the turn is the endpoint's business (`endpoint/turns.rs`).
///
/// The endpoint is the only one to use it, so that no operation has to be atomic together with another.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Total>);

#[derive(Debug)]
struct Total {
    limit: usize,
    /// Of what is shared.
    used: AtomicUsize,
    reserve: usize,
    /// Of the reserve.
    lent: AtomicUsize,
    /// How many associations wait for the turn.
    waiting: AtomicUsize,
    /// Tickets given so far to those that wait.
    tickets: AtomicU64,
}

impl Default for Memory {
    /// More than there is.
    fn default() -> Self {
        Self::new(usize::MAX, 0)
    }
}

impl Memory {
    /// `limit` bytes for what peers have sent, bookkeeping included, and beside them `reserve` for whose turn it is.
    pub(crate) fn new(limit: usize, reserve: usize) -> Self {
        Self(Arc::new(Total {
            limit,
            used: AtomicUsize::new(0),
            reserve,
            lent: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            tickets: AtomicU64::new(0),
        }))
    }

    /// Bytes in use of what is shared.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Bytes in use of the reserve.
    #[inline]
    pub(crate) fn lent(&self) -> usize {
        self.0.lent.load(Ordering::Relaxed)
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

    /// Whether the reserve has `bytes` for one who has `lent` of it already.
    pub(crate) fn can_lend(&self, bytes: usize, lent: usize) -> bool {
        self.left_in_reserve() + lent >= bytes
    }

    /// Whether anybody waits for the turn.
    #[inline]
    pub(crate) fn is_waited_for(&self) -> bool {
        self.0.waiting.load(Ordering::Relaxed) > 0
    }

    /// The a_rwnd of a new association with this receive `buffer`, and what it may take now: at least as much as an INIT must offer (RFC
    /// 9260 §3.3.2).
    pub(crate) fn offer(&self, buffer: usize) -> u32 {
        buffer.min((self.free() / 2).max(LEAST_A_RWND as usize)) as u32
    }

    fn free(&self) -> usize {
        self.0.limit.saturating_sub(self.used())
    }

    fn left_in_reserve(&self) -> usize {
        self.0.reserve.saturating_sub(self.lent())
    }
}

/// What one association holds of it.
#[derive(Debug)]
pub(super) struct Share {
    memory: Memory,
    held: usize,
    /// Of those that the share has become too small for: most are fine without.
    claim: Option<Box<Claim>>,
}

/// How an association stands with the reserve.
#[derive(Debug)]
pub(super) struct Claim {
    /// Whoever waits has one; the lowest has waited for longest.
    pub(super) ticket: Option<u64>,
    pub(super) has_turn: bool,
    /// Has been refused something in its turn, for want of memory.
    pub(super) refused: bool,
    /// Turns that it has lost since a message of it was last finished in one.
    pub(super) lost: u32,
    /// What it holds beyond that comes out of the reserve.
    shared: usize,
}

impl Share {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, held: 0, claim: None }
    }

    /// The association holds so many bytes now.
    #[inline]
    pub(super) fn set(&mut self, held: usize) {
        if self.claim.is_some() {
            return self.set_with_claim(held);
        }
        let used = self.memory.used() - self.held + held;
        self.memory.0.used.store(used, Ordering::Relaxed);
        self.held = held;
    }

    fn set_with_claim(&mut self, held: usize) {
        let before = self.lent();
        let used = self.memory.used() - (self.held - before);
        let free = self.memory.0.limit.saturating_sub(used + held);
        if let Some(claim) = self.claim.as_mut().filter(|claim| !claim.has_turn) {
            // Nothing more is lent outside its turn. What was is paid back first, or all of it once its share has room for it.
            claim.shared = held - before.min(held.saturating_sub(claim.shared));
            if held - claim.shared <= free.saturating_sub(claim.shared) / 2 {
                claim.shared = usize::MAX;
            }
        }
        self.held = held;
        let lent = self.lent();
        self.memory.0.lent.store(self.memory.lent() - before + lent, Ordering::Relaxed);
        self.memory.0.used.store(used + held - lent, Ordering::Relaxed);
    }

    /// Of what it holds, what comes out of the reserve.
    pub(super) fn lent(&self) -> usize {
        self.claim.as_ref().map_or(0, |claim| self.held.saturating_sub(claim.shared))
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
        let share = self.memory.free().saturating_add(dropped).saturating_sub(held) / 2;
        match &self.claim {
            Some(claim) if claim.has_turn => {
                share.max(self.memory.left_in_reserve() + dropped.min(self.lent()))
            }
            _ => share,
        }
    }

    /// Whether `bytes` may be added when `dropped` are no longer held. Who holds nothing then may take anything that there is.
    #[inline]
    pub(super) fn admits(&self, bytes: usize, dropped: usize) -> bool {
        let alone = self.held <= dropped && bytes <= self.memory.free().saturating_add(dropped);
        alone || bytes <= self.left_without(dropped)
    }

    pub(super) fn claim(&self) -> Option<&Claim> {
        self.claim.as_deref()
    }

    /// What comes next has been refused because there is no memory for it: waits for the turn.
    pub(super) fn wait(&mut self) {
        let claim = self.claim.get_or_insert_with(|| {
            Box::new(Claim { ticket: None, has_turn: false, refused: false, lost: 0, shared: usize::MAX })
        });
        if claim.has_turn {
            claim.refused = true;
        } else if claim.ticket.is_none() {
            claim.ticket = Some(self.memory.0.tickets.fetch_add(1, Ordering::Relaxed));
            self.memory.0.waiting.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What comes next has been taken: it waits no more.
    #[inline]
    pub(super) fn go_on(&mut self) {
        if let Some(claim) = &mut self.claim {
            claim.refused = false;
            if claim.ticket.take().is_some() && !claim.has_turn {
                self.memory.0.waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// What it takes from now on comes out of the reserve, if it waits; or there is room for what was refused in its turn.
    pub(super) fn begin_turn(&mut self) {
        let held = self.held;
        let Some(claim) = &mut self.claim else { return };
        claim.refused = false;
        if claim.ticket.is_some() && !claim.has_turn {
            claim.has_turn = true;
            claim.shared = claim.shared.min(held);
            self.memory.0.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// It was the turn of others, or its message is whole: what it has taken stays lent until it is released.
    pub(super) fn end_turn(&mut self, lost: bool) {
        if let Some(claim) = self.claim.as_mut().filter(|claim| claim.has_turn) {
            claim.has_turn = false;
            claim.refused = false;
            claim.ticket = None;
            claim.lost = if lost { claim.lost + 1 } else { 0 };
            self.set(self.held);
        }
    }

    #[cfg(any(debug_assertions, test, fuzzing))]
    pub(super) fn held(&self) -> usize {
        self.held
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.go_on();
        self.end_turn(false);
        self.set(0);
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
