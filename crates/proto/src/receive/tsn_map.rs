//! Which TSNs have been received (RFC 9260 §6.2, §6.7).

use whimbrel_wire::{GapAckBlock, Tsn};

/// How far beyond the Cumulative TSN a TSN may lie. Gap ack blocks reach 65,535 (RFC 9260 §3.3.4); a little less
/// keeps the ring at 1024 words (8 KiB), which is all the memory that a peer can make this map take.
pub(super) const WINDOW: u32 = 65_535 - 63;
/// Words kept when the last gap closes, so that ordinary loss does not allocate each time.
const KEPT_WORDS: usize = 16;
const WORD_BITS: u64 = 64;

/// The TSNs received: everything up to the cumulative one, and a bit for each beyond.
///
/// Inside, a TSN is its *position*: its distance from the TSN before the peer's initial one, which never wraps. The
/// bits lie in a ring of words indexed by position, so nothing moves when the cumulative TSN advances. As long as
/// there is no gap, no bit is set and nothing is allocated.
#[derive(Debug)]
pub(super) struct TsnMap {
    /// The TSN at position 0.
    origin: Tsn,
    cumulative: u64,
    /// The highest position received; equals `cumulative` when there is no gap.
    highest: u64,
    /// A power of two of words, or none. Bits at or below `cumulative` and above `highest` are clear, and the words
    /// of both ends never fall together.
    words: Vec<u64>,
}

/// Where a TSN falls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Not received yet, at this position.
    New(u64),
    /// Received before.
    Duplicate,
    /// Too far ahead to be remembered.
    OutsideWindow,
}

impl TsnMap {
    pub(super) fn new(peer_initial_tsn: Tsn) -> Self {
        Self { origin: peer_initial_tsn.prev(), cumulative: 0, highest: 0, words: Vec::new() }
    }

    #[inline]
    pub(super) fn place(&self, tsn: Tsn) -> Place {
        let cumulative_tsn = self.cumulative_tsn();
        match tsn.distance_from(cumulative_tsn) {
            0 => Place::Duplicate,
            ahead @ 1..=WINDOW => {
                let position = self.cumulative + u64::from(ahead);
                if self.contains(position) { Place::Duplicate } else { Place::New(position) }
            }
            _ if tsn.precedes(cumulative_tsn) => Place::Duplicate,
            _ => Place::OutsideWindow,
        }
    }

    /// Notes `position`, which [`TsnMap::place`] called new.
    #[inline]
    pub(super) fn record(&mut self, position: u64) {
        debug_assert!(position > self.cumulative && !self.contains(position));
        if position == self.cumulative + 1 {
            self.cumulative = position;
            if self.highest < position {
                self.highest = position;
            } else {
                self.advance();
            }
        } else {
            self.record_beyond_gap(position);
        }
    }

    /// Forgets `position` beyond the cumulative one: its DATA was dropped after all (RFC 9260 §6.2).
    pub(super) fn remove(&mut self, position: u64) {
        debug_assert!(self.contains(position));
        let index = self.index(position / WORD_BITS);
        self.words[index] &= !(1 << (position % WORD_BITS));
        if position == self.highest {
            self.highest = self.last_set_below(position);
            self.shrink_when_closed();
        }
    }

    /// Appends to `out` the blocks received beyond the cumulative TSN, lowest first, until `out` holds `max`
    /// (RFC 9260 §6.7).
    pub(super) fn gap_ack_blocks(&self, max: usize, out: &mut Vec<GapAckBlock>) {
        // A position within the window is less than 65,536 from the cumulative one.
        let offset = |position: u64| (position - self.cumulative) as u16;
        let mut from = self.cumulative + 1;
        while out.len() < max {
            let Some(start) = self.next_set(from) else { break };
            let end = self.next_clear(start) - 1;
            out.push(GapAckBlock { start: offset(start), end: offset(end) });
            from = end + 1;
        }
    }

    #[inline]
    pub(super) fn cumulative_tsn(&self) -> Tsn {
        // Wraps on purpose: positions are TSNs unwrapped.
        self.origin.plus(self.cumulative as u32)
    }

    #[inline]
    pub(super) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    #[inline]
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    #[inline]
    pub(super) fn has_gaps(&self) -> bool {
        self.highest != self.cumulative
    }

    /// Whether `position`, beyond the cumulative one, has been received.
    #[inline]
    pub(super) fn contains(&self, position: u64) -> bool {
        position <= self.highest
            && self.words[self.index(position / WORD_BITS)] >> (position % WORD_BITS) & 1 == 1
    }

    fn record_beyond_gap(&mut self, position: u64) {
        self.make_room(position);
        let index = self.index(position / WORD_BITS);
        self.words[index] |= 1 << (position % WORD_BITS);
        self.highest = self.highest.max(position);
    }

    /// Moves the cumulative position over what was received right after it.
    fn advance(&mut self) {
        while self.cumulative < self.highest {
            let next = self.cumulative + 1;
            let bit = next % WORD_BITS;
            let index = self.index(next / WORD_BITS);
            let run = u64::from((self.words[index] >> bit).trailing_ones());
            if run == 0 {
                return;
            }
            self.words[index] &= !((u64::MAX >> (WORD_BITS - run)) << bit);
            self.cumulative += run;
        }
        self.shrink_when_closed();
    }

    fn shrink_when_closed(&mut self) {
        if self.highest == self.cumulative && self.words.len() > KEPT_WORDS {
            self.words = Vec::new();
        }
    }

    /// Grows the ring until it holds `position`.
    fn make_room(&mut self, position: u64) {
        let first = (self.cumulative + 1) / WORD_BITS;
        let needed = (position / WORD_BITS - first + 1) as usize;
        if needed <= self.words.len() {
            return;
        }
        let mut grown = vec![0; needed.next_power_of_two()];
        if self.has_gaps() {
            let mask = grown.len() as u64 - 1;
            for word in first..=self.highest / WORD_BITS {
                grown[(word & mask) as usize] = self.words[self.index(word)];
            }
        }
        self.words = grown;
    }

    /// The ring index of word number `word`; the ring must not be empty.
    #[inline]
    fn index(&self, word: u64) -> usize {
        (word & (self.words.len() as u64 - 1)) as usize
    }

    fn next_set(&self, from: u64) -> Option<u64> {
        self.scan(from, |word| word)
    }

    /// The first position at or after `from` that is not set; at most one beyond the highest.
    fn next_clear(&self, from: u64) -> u64 {
        self.scan(from, |word| !word).unwrap_or(self.highest + 1)
    }

    /// The first position in `from..=highest` whose bit is set in its word after `map`.
    fn scan(&self, from: u64, map: impl Fn(u64) -> u64) -> Option<u64> {
        if from > self.highest {
            return None;
        }
        let mut skip = from % WORD_BITS;
        for word in from / WORD_BITS..=self.highest / WORD_BITS {
            let rest = map(self.words[self.index(word)]) >> skip;
            if rest != 0 {
                let found = word * WORD_BITS + skip + u64::from(rest.trailing_zeros());
                return (found <= self.highest).then_some(found);
            }
            skip = 0;
        }
        None
    }

    /// The highest position received before `position`, whose own bit is clear as are all beyond it.
    fn last_set_below(&self, position: u64) -> u64 {
        let first = (self.cumulative + 1) / WORD_BITS;
        for word in (first..=position / WORD_BITS).rev() {
            let bits = self.words[self.index(word)];
            if bits != 0 {
                return word * WORD_BITS + (WORD_BITS - 1 - u64::from(bits.leading_zeros()));
            }
        }
        self.cumulative
    }

    /// Panics if the map contradicts itself. Walks the ring.
    #[cfg(any(debug_assertions, test, fuzzing))]
    pub(super) fn invariants(&self) {
        assert!(self.highest >= self.cumulative);
        assert!(self.highest - self.cumulative <= u64::from(WINDOW));
        assert!(self.words.is_empty() || self.words.len().is_power_of_two());
        assert!(self.words.len() <= 1024);
        let set: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        let mut blocks = Vec::new();
        self.gap_ack_blocks(usize::MAX, &mut blocks);
        let within: u32 = blocks.iter().map(|block| u32::from(block.end - block.start) + 1).sum();
        assert_eq!(set, within, "bits outside the window");
        if self.has_gaps() {
            assert!(self.contains(self.highest) && !self.contains(self.cumulative + 1));
        } else {
            assert!(self.words.len() <= KEPT_WORDS);
        }
    }
}

#[cfg(test)]
#[path = "tsn_map_tests.rs"]
mod tests;
