use core::cmp::Ordering;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use whimbrel_machine::Instant;

/// Of a packet that stands in no line.
const NO_LINE: u32 = u32::MAX;

/// What is due at some time. Small, because the heap moves it about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    /// The packet in this slot arrives; void if the slot has another generation by then. `line` is the queue's own.
    Packet { slot: u32, generation: u32, line: u32 },
    /// The host's machine may have a deadline; void unless it is the event the host waits for.
    Timer { host: u32 },
    /// The host's app asked to be woken; void in a later life of the host.
    Wake { host: u32, life: u16, token: u64 },
    /// The host begins to run; void in a later life of the host.
    Start { host: u32, life: u16 },
    /// The bottleneck of a link direction becomes free; void unless it is the event that the direction waits for.
    Service { direction: u32 },
    /// Something happens on a medium; void unless it is the event that the medium waits for.
    Medium { medium: u32 },
    /// A scheduled action.
    Action { index: u32 },
}

impl Due {
    /// The arrival of a packet that has not come along a link like others.
    pub(crate) const fn packet(slot: u32, generation: u32) -> Self {
        Self::Packet { slot, generation, line: NO_LINE }
    }
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

/// Events that came in the order of their times: the first is in the heap, the others wait here.
#[derive(Default)]
struct Line {
    waiting: VecDeque<Entry>,
    in_heap: bool,
    latest: Instant,
}

/// Events in a total order: time, then insertion. Nothing is ever taken out of the middle; an event that has become
/// void says so when it comes up.
///
/// Packets leave a link in the order they entered it, nearly always. Each link direction is a line of which the heap knows
/// the first alone, so the heap stays as small as the network, however much is in flight.
#[derive(Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Entry>,
    lines: Vec<Line>,
    /// Events in lines that are not in the heap.
    waiting: usize,
    sequence: u64,
}

impl EventQueue {
    pub(crate) fn push(&mut self, at: Instant, due: Due) {
        self.sequence += 1;
        self.heap.push(Entry { at, sequence: self.sequence, due });
    }

    /// The arrival of a packet at the end of link direction `line`.
    pub(crate) fn push_in_line(&mut self, line: u32, at: Instant, slot: u32, generation: u32) {
        if self.lines.len() <= line as usize {
            self.lines.resize_with(line as usize + 1, Line::default);
        }
        self.sequence += 1;
        let place = &mut self.lines[line as usize];
        let mut entry = Entry { at, sequence: self.sequence, due: Due::Packet { slot, generation, line } };
        if place.in_heap && at >= place.latest {
            place.latest = at;
            place.waiting.push_back(entry);
            self.waiting += 1;
            return;
        }
        if place.in_heap {
            // It overtakes those in front of it.
            entry.due = Due::packet(slot, generation);
        } else {
            place.in_heap = true;
            place.latest = at;
        }
        self.heap.push(entry);
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Instant, Due)> {
        let mut first = self.heap.peek_mut()?;
        let Entry { at, due, .. } = *first;
        let line = match due {
            Due::Packet { line, .. } => self.lines.get_mut(line as usize),
            _ => None,
        };
        match line.map(|line| (line.waiting.pop_front(), line)) {
            Some((Some(next), _)) => {
                self.waiting -= 1;
                *first = next;
            }
            Some((None, line)) => {
                line.in_heap = false;
                PeekMut::pop(first);
            }
            None => {
                PeekMut::pop(first);
            }
        }
        Some((at, due))
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len() + self.waiting
    }
}

#[cfg(test)]
#[path = "event_queue_tests.rs"]
mod tests;
