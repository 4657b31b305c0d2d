use core::cmp::Ordering;
use std::collections::BinaryHeap;

use whimbrel_machine::Instant;

/// What is due at some time. Small, because the heap moves it about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    /// The packet in this slot arrives; void if the slot has another generation by then.
    Packet { slot: u32, generation: u32 },
    /// The host's machine may have a deadline; void unless it is the event the host waits for.
    Timer { host: u32 },
    /// The host's app asked to be woken; void in a later life of the host.
    Wake { host: u32, life: u16, token: u64 },
    /// The host begins to run; void in a later life of the host.
    Start { host: u32, life: u16 },
    /// A scheduled action.
    Action { index: u32 },
}

#[derive(Clone, Copy)]
struct Entry {
    at: Instant,
    sequence: u64,
    due: Due,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest, for a heap that pops the greatest; ties go by order of insertion.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

/// Events in a total order: time, then insertion. Nothing is ever taken out of the middle; an event that has become
/// void says so when it comes up.
#[derive(Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Entry>,
    sequence: u64,
}

impl EventQueue {
    pub(crate) fn push(&mut self, at: Instant, due: Due) {
        self.sequence += 1;
        self.heap.push(Entry { at, sequence: self.sequence, due });
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Instant, Due)> {
        self.heap.pop().map(|entry| (entry.at, entry.due))
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
#[path = "event_queue_tests.rs"]
mod tests;
