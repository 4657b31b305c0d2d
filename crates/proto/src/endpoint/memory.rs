//! What is given up when the endpoint's memory for what peers have sent runs short.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::{Endpoint, Shard};
use crate::association::Association;
use crate::config::LimitConfig;
use crate::receive::Memory;

/// A peer that has not been heard for so long is silent: others need the memory more.
const SILENT: Duration = Duration::from_secs(30);
/// How long nobody is looked at again, so that a shortage that silent peers have no part in costs little.
const PAUSE: Duration = Duration::from_secs(1);

/// The memory that these limits allow. One association alone must be able to fill its buffer with chunks of any size: half of the
/// memory is for others, and bookkeeping may be as much as the buffer. An eighth, and at least one buffer, is the reserve for whose turn it is.
/// Each shard of an endpoint has its part.
pub(super) fn of(limits: &LimitConfig, shard: &Shard) -> Memory {
    let buffer = limits.receive_buffer;
    let all = shard.part(limits.receive_memory).max(buffer.saturating_mul(5));
    let reserve = buffer.max(all / 8);
    Memory::new(all - reserve, reserve)
}

impl Endpoint {
    /// Once three quarters of the memory are in use, what silent peers have sent is given up until half is free, beginning with who
    /// has been silent for longest: first what lies beyond gaps, which the peer sends again if it comes back (RFC 9260 §6.2), then
    /// associations, with an ABORT "Out of Resource". Complete messages go to the user before. If it is short still, peers that are heard lose
    /// what they hold beyond gaps, the largest holder first: who has taken its share ([`Memory`]) before others came does not keep it.
    pub(super) fn relieve_memory(&mut self, now: Instant) {
        let memory = self.supplies.buffers.memory().clone();
        if !memory.is_short() || now < self.supplies.relief {
            return;
        }
        self.supplies.relief = now + PAUSE;
        let table = &self.table;
        // Who has been told that there is no room waits in silence; once it has had its turn it counts like others.
        let waits = |association: &&Association| association.standing().is_some_and(|s| s.ticket.is_some());
        let holder = |index: usize| {
            let association = table.get(index).filter(|association| !waits(association))?;
            association.holds_since().map(|heard| (heard, index))
        };
        let mut silent: Vec<(Instant, usize)> = table.indices().into_iter().filter_map(holder).collect();
        silent.retain(|&(heard, _)| now.saturating_since(heard) >= SILENT);
        silent.sort_unstable();
        for &(_, index) in &silent {
            if memory.is_ample() {
                return;
            }
            if let Some(association) = self.table.touch(index) {
                association.drop_held();
            }
        }
        for &(_, index) in &silent {
            if memory.is_ample() {
                return;
            }
            if let Some(association) = self.table.touch(index) {
                association.give_up_for_memory(now);
            }
        }
        let table = &self.table;
        // Whose turn it is holds it up for as long as what is dropped takes to come again.
        let turn = self.supplies.turns.holder();
        let held = |index: usize| {
            let association = table.get(index).filter(|_| Some(index) != turn)?;
            Some((association.held(), index))
        };
        let mut holders: Vec<(usize, usize)> = table.indices().into_iter().filter_map(held).collect();
        holders.sort_unstable_by_key(|&(held, index)| (core::cmp::Reverse(held), index));
        for (held, index) in holders {
            if held == 0 || !memory.is_short() {
                return;
            }
            if let Some(association) = self.table.touch(index) {
                association.drop_held();
            }
        }
    }
}
