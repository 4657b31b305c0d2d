//! Which association has to be looked at next.

use whimbrel_machine::Instant;

/// Where an association without a deadline stands in the heap.
const NOWHERE: u32 = u32::MAX;

/// At most one deadline for each association, the earliest first; of equal ones that of the lower number.
///
/// A binary heap that knows where each entry stands, so that a deadline can be moved. The delayed SACK (RFC 9260 §6.2) is set and
/// stopped with every other packet of the peer: to leave an entry behind each time would let the peer fill the memory.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    heap: Vec<(Instant, u32)>,
    /// By the association's number.
    places: Vec<u32>,
}

impl Deadlines {
    /// The earliest, and whose it is.
    pub(super) fn first(&self) -> Option<(Instant, usize)> {
        self.heap.first().map(|&(at, number)| (at, number as usize))
    }

    /// The deadline of this association.
    pub(super) fn get(&self, number: usize) -> Option<Instant> {
        let place = *self.places.get(number)?;
        self.heap.get(place as usize).map(|&(at, _)| at)
    }

    /// How many associations have one.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Gives the association this deadline instead of the one it has.
    pub(super) fn set(&mut self, number: usize, at: Option<Instant>) {
        if self.places.len() <= number {
            self.places.resize(number + 1, NOWHERE);
        }
        let place = self.places[number];
        match at {
            Some(at) if place == NOWHERE => {
                self.heap.push((at, number as u32));
                self.rise(self.heap.len() - 1);
            }
            Some(at) => {
                let place = place as usize;
                let before = core::mem::replace(&mut self.heap[place].0, at);
                if at < before {
                    self.rise(place);
                } else {
                    self.sink(place);
                }
            }
            None if place == NOWHERE => {}
            None => self.remove(place as usize),
        }
    }

    fn remove(&mut self, place: usize) {
        let (_, number) = self.heap.swap_remove(place);
        self.places[number as usize] = NOWHERE;
        if place < self.heap.len() {
            // The last entry has come here, from another branch perhaps.
            self.sink(place);
            self.rise(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= self.heap[place] {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
        self.note(place);
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(&at_left) = self.heap.get(left) else { break };
            let least =
                if self.heap.get(right).is_some_and(|&at_right| at_right < at_left) { right } else { left };
            if self.heap[place] <= self.heap[least] {
                break;
            }
            self.swap(place, least);
            place = least;
        }
        self.note(place);
    }

    /// The entry now in `other` is known by its place; that in `place` still moves.
    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        self.note(one);
        self.note(other);
    }

    fn note(&mut self, place: usize) {
        self.places[self.heap[place].1 as usize] = place as u32;
    }
}

#[cfg(test)]
#[path = "deadlines_tests.rs"]
mod tests;
