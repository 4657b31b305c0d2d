//! Sets of chunks.

use core::ops::Range;
use std::collections::VecDeque;

const WORD_BITS: u64 = 64;
const BLOCK_BITS: u64 = 64 * WORD_BITS;
/// Blocks for which there is room when nothing is marked any more.
const KEPT_BLOCKS: usize = 4;

/// A set of chunks that are outstanding, each named by how many were sent before it, one bit each. What is looked for is found block by
/// block, 4,096 chunks at a time: gap ack blocks reach 65,535 chunks, which are 16 blocks, so that no SACK costs more than that besides
/// the chunks it changes.
///
/// Nothing is kept for an empty set.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The number of the first block: chunk n is in block n / 4096.
    first: u64,
    blocks: VecDeque<Box<Block>>,
}

/// The chunks that gap ack blocks have acknowledged.
#[derive(Debug, Default)]
pub(super) struct GapMarks {
    pub(super) all: Marks,
    /// Those that the receiver may still drop.
    pub(super) renegable: Marks,
}

#[derive(Debug)]
struct Block {
    words: [u64; 64],
    /// Which of the words have a mark.
    any: u64,
    /// Which of the words have nothing but marks.
    full: u64,
}

impl Block {
    fn put(&mut self, at: u64, marked: bool) {
        let (index, bit) = (at / WORD_BITS, 1 << (at % WORD_BITS));
        let word = &mut self.words[index as usize];
        *word = if marked { *word | bit } else { *word & !bit };
        let flag = 1 << index;
        self.any = if *word != 0 { self.any | flag } else { self.any & !flag };
        self.full = if *word == u64::MAX { self.full | flag } else { self.full & !flag };
    }

    /// The first bit from `at` on that is set in what `map` makes of its word; `promising` has a bit for each word that may have one.
    fn next(&self, at: u64, promising: u64, map: impl Fn(u64) -> u64) -> Option<u64> {
        let (index, bit) = (at / WORD_BITS, at % WORD_BITS);
        let word = map(self.words[index as usize]) >> bit;
        if word != 0 {
            return Some(at + u64::from(word.trailing_zeros()));
        }
        // Without the words up to this one; two steps, since 64 is too far for one.
        let index = u64::from((promising >> index >> 1 << index << 1).trailing_zeros());
        let word = self.words.get(index as usize)?;
        Some(index * WORD_BITS + u64::from(map(*word).trailing_zeros()))
    }
}

impl Marks {
    /// Marks chunk `number`, or removes its mark.
    #[inline]
    pub(super) fn put(&mut self, number: u64, marked: bool) {
        if marked {
            self.block(number / BLOCK_BITS).put(number % BLOCK_BITS, true);
        } else if let Some(block) = self.index(number / BLOCK_BITS) {
            self.blocks[block].put(number % BLOCK_BITS, false);
        }
    }

    /// Forgets the chunks before `number`.
    #[inline]
    pub(super) fn forget_before(&mut self, number: u64) {
        if self.blocks.is_empty() {
            return;
        }
        while !self.blocks.is_empty() && self.first < number / BLOCK_BITS {
            self.blocks.pop_front();
            self.first += 1;
        }
        if self.blocks.is_empty() && self.blocks.capacity() > KEPT_BLOCKS {
            self.blocks = VecDeque::new();
        }
    }

    /// The first marked chunk in `range`.
    pub(super) fn next(&self, range: Range<u64>) -> Option<u64> {
        let mut from = range.start.max(self.first * BLOCK_BITS);
        while from < range.end {
            let block = &self.blocks[self.index(from / BLOCK_BITS)?];
            let start = from - from % BLOCK_BITS;
            if let Some(at) = block.next(from - start, block.any, |word| word) {
                return Some(start + at).filter(|&found| found < range.end);
            }
            from = start + BLOCK_BITS;
        }
        None
    }

    /// The first chunk in `range` that is not marked.
    pub(super) fn next_unmarked(&self, range: Range<u64>) -> Option<u64> {
        let mut from = range.start;
        while from < range.end {
            let Some(block) = self.index(from / BLOCK_BITS) else { return Some(from) };
            let (block, start) = (&self.blocks[block], from - from % BLOCK_BITS);
            if let Some(at) = block.next(from - start, !block.full, |word| !word) {
                return Some(start + at).filter(|&found| found < range.end);
            }
            from = start + BLOCK_BITS;
        }
        None
    }

    /// How many chunks in `range` are marked.
    pub(super) fn count(&self, range: Range<u64>) -> usize {
        let mut count = 0;
        let mut from = range.start.max(self.first * BLOCK_BITS);
        while from < range.end {
            let Some(block) = self.index(from / BLOCK_BITS) else { break };
            let (at, left) = (from % WORD_BITS, range.end - from);
            let word = self.blocks[block].words[(from % BLOCK_BITS / WORD_BITS) as usize] >> at;
            let bits = left.min(WORD_BITS - at);
            count += (word & (u64::MAX >> (WORD_BITS - bits))).count_ones() as usize;
            from += bits;
        }
        count
    }

    #[inline]
    fn index(&self, number: u64) -> Option<usize> {
        let block = number.checked_sub(self.first)? as usize;
        (block < self.blocks.len()).then_some(block)
    }

    fn block(&mut self, number: u64) -> &mut Block {
        let empty = || Box::new(Block { words: [0; 64], any: 0, full: 0 });
        if self.blocks.is_empty() {
            self.first = number;
        }
        while number < self.first {
            self.blocks.push_front(empty());
            self.first -= 1;
        }
        let block = (number - self.first) as usize;
        if block >= self.blocks.len() {
            self.blocks.resize_with(block + 1, empty);
        }
        &mut self.blocks[block]
    }
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
