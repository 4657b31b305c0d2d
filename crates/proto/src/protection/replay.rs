//! Which record numbers have come already. A number that has, or that is too old to tell, is refused (chunk draft §10: replay protection
//! is never off).

/// Numbers remembered at first: an association that says little needs no more.
const LEAST: u64 = 1_024;

/// Numbers remembered at most: two paths may differ by 0.4 s at 1 Gbit/s. What is later is lost.
const MOST: u64 = 32_768;

const WORD: u64 = 64;

/// A window over the numbers up to the highest one taken.
#[derive(Debug)]
pub(super) struct ReplayWindow {
    /// One more than the highest number taken.
    next: u64,
    /// Number n is bit n modulo the length of the window, which is a power of two.
    taken: Vec<u64>,
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { next: 0, taken: vec![0; (LEAST / WORD) as usize] }
    }
}

impl ReplayWindow {
    /// One more than the highest number taken.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Whether this number may be new.
    pub(super) fn is_new(&self, number: u64) -> bool {
        number >= self.next || (self.next - number <= self.len() && !self.has(number))
    }

    /// Takes an authentic number that is new.
    pub(super) fn take(&mut self, number: u64) {
        // Nothing falls out before the window is as long as it may be, so that every number keeps its place.
        while number >= self.len() && self.len() < MOST {
            self.taken.resize(self.taken.len() * 2, 0);
        }
        if number >= self.next {
            let passed = (number - self.next).min(self.len());
            for skipped in number - passed..number {
                self.set(skipped, false);
            }
            self.next = number + 1;
        }
        self.set(number, true);
    }

    fn len(&self) -> u64 {
        self.taken.len() as u64 * WORD
    }

    fn place(&self, number: u64) -> (usize, u64) {
        let bit = number & (self.len() - 1);
        ((bit / WORD) as usize, 1 << (bit % WORD))
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        self.taken[word] & bit != 0
    }

    fn set(&mut self, number: u64, taken: bool) {
        let (word, bit) = self.place(number);
        if taken {
            self.taken[word] |= bit;
        } else {
            self.taken[word] &= !bit;
        }
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
