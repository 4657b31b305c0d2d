//! Fragments and messages that came out of order and wait for what is missing (RFC 9260 §6.6, §6.9).

use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use whimbrel_wire::{Data, PayloadProtocolId, Ssn, StreamId};

use crate::interface::Delivery;

pub(super) const BEGUN_WITHIN: &str = "message begun before the end of the previous one";
pub(super) const NO_BEGINNING: &str = "fragment of a message that was not begun";
pub(super) const INCONSISTENT: &str = "fragments of one message disagree about what it is";
pub(super) const SSN_REUSED: &str = "stream sequence number used twice";

/// What all fragments of a message have in common (RFC 9260 §6.9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) stream: StreamId,
    /// 0 if unordered: it means nothing then and is ignored (RFC 9260 §6.6).
    pub(super) ssn: Ssn,
    pub(super) ppid: PayloadProtocolId,
    pub(super) delivery: Delivery,
}

impl Header {
    #[inline]
    pub(super) fn of(data: &Data<'_>) -> Self {
        let (ssn, delivery) =
            if data.unordered { (Ssn(0), Delivery::Unordered) } else { (data.ssn, Delivery::Ordered) };
        Self { stream: data.stream, ssn, ppid: data.ppid, delivery }
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.delivery == Delivery::Ordered
    }
}

/// Consecutive fragments of one message.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) header: Header,
    /// Its first fragment has the B bit.
    pub(super) begins: bool,
    /// Its last fragment has the E bit.
    pub(super) ends: bool,
    bytes: usize,
    /// The payload of each fragment. Kept apart until the message is whole, so that each byte is copied twice at
    /// most, in whatever order a hostile peer sends.
    pieces: VecDeque<Box<[u8]>>,
}

impl Run {
    fn of(header: Header, data: &Data<'_>) -> Self {
        let mut pieces = VecDeque::with_capacity(1);
        pieces.push_back(Box::from(data.payload));
        Self { header, begins: data.beginning, ends: data.ending, bytes: data.payload.len(), pieces }
    }

    fn push(&mut self, data: &Data<'_>) {
        self.pieces.push_back(Box::from(data.payload));
        self.bytes += data.payload.len();
        self.ends = data.ending;
    }

    /// Puts `next`, which follows, behind. Moves the shorter list of pieces: a fragment moves O(log n) times.
    fn join(&mut self, mut next: Self) {
        self.bytes += next.bytes;
        self.ends = next.ends;
        if next.pieces.len() > self.pieces.len() {
            core::mem::swap(&mut self.pieces, &mut next.pieces);
            while let Some(piece) = next.pieces.pop_back() {
                self.pieces.push_front(piece);
            }
        } else {
            self.pieces.append(&mut next.pieces);
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.begins && self.ends
    }

    /// How many TSNs.
    pub(super) fn fragments(&self) -> u64 {
        self.pieces.len() as u64
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn append_to(&self, payload: &mut Vec<u8>) {
        payload.reserve(self.bytes);
        for piece in &self.pieces {
            payload.extend_from_slice(piece);
        }
    }

    pub(super) fn into_payload(mut self) -> Bytes {
        if self.pieces.len() == 1
            && let Some(piece) = self.pieces.pop_back()
        {
            return Bytes::from(piece);
        }
        let mut payload = Vec::with_capacity(self.bytes);
        self.append_to(&mut payload);
        Bytes::from(payload)
    }
}

/// Runs by the position of their first fragment, all beyond the cumulative TSN. A complete run here is a message
/// that waits for its turn.
#[derive(Debug, Default)]
pub(super) struct Held {
    runs: BTreeMap<u64, Run>,
    /// The complete ordered runs: where the message with this SSN begins.
    waiting: BTreeMap<(StreamId, u16), u64>,
    fragments: usize,
    bytes: usize,
}

impl Held {
    /// Holds a chunk. Returns where its message begins if that is whole now; it stays here.
    pub(super) fn insert(
        &mut self,
        position: u64,
        header: Header,
        data: &Data<'_>,
    ) -> Result<Option<u64>, &'static str> {
        let next = match self.runs.get(&(position + 1)) {
            Some(next) => joins(header, data.ending, next.header, next.begins)?,
            None => false,
        };
        let before = self.runs.range_mut(..position).next_back();
        let adjacent = before.filter(|(first, run)| **first + run.fragments() == position);
        let (first, run) = match adjacent {
            Some((&first, run)) if joins(run.header, run.ends, header, data.beginning)? => {
                run.push(data);
                (first, run)
            }
            _ => (position, self.runs.entry(position).or_insert(Run::of(header, data))),
        };
        self.fragments += 1;
        self.bytes += data.payload.len();
        if !next {
            return Ok(run.is_complete().then_some(first));
        }
        let next = self.runs.remove(&(position + 1));
        let run = self.runs.get_mut(&first);
        let (Some(next), Some(run)) = (next, run) else { return Ok(None) };
        run.join(next);
        Ok(run.is_complete().then_some(first))
    }

    /// Lets the complete ordered message at `first` wait for its turn.
    pub(super) fn wait(&mut self, first: u64, header: &Header) -> Result<(), &'static str> {
        match self.waiting.insert((header.stream, header.ssn.0), first) {
            Some(_) => Err(SSN_REUSED),
            None => Ok(()),
        }
    }

    /// Takes the message whose turn has come, if it is here.
    pub(super) fn take_waiting(&mut self, stream: StreamId, ssn: Ssn) -> Option<Run> {
        if self.waiting.is_empty() {
            return None;
        }
        let first = self.waiting.remove(&(stream, ssn.0))?;
        self.take(first)
    }

    /// Takes the run that begins at `first`, which is not waiting for its turn.
    pub(super) fn take(&mut self, first: u64) -> Option<Run> {
        let run = self.runs.remove(&first)?;
        self.fragments -= run.pieces.len();
        self.bytes -= run.bytes;
        Some(run)
    }

    /// Takes the first run if it begins at or before `position`.
    pub(super) fn take_up_to(&mut self, position: u64) -> Option<(u64, Run)> {
        let first = *self.runs.first_key_value()?.0;
        if first > position {
            return None;
        }
        let run = self.take(first)?;
        if run.is_complete() && run.header.is_ordered() {
            self.waiting.remove(&(run.header.stream, run.header.ssn.0));
        }
        Some((first, run))
    }

    /// Whether the message with this SSN waits for its turn here.
    pub(super) fn is_waiting(&self, stream: StreamId, ssn: Ssn) -> bool {
        self.waiting.contains_key(&(stream, ssn.0))
    }

    /// Where the complete unordered messages of `stream` begin, in the order of their TSNs. Walks all runs.
    pub(super) fn unordered(&self, stream: StreamId) -> Vec<u64> {
        let matches =
            |run: &Run| run.is_complete() && !run.header.is_ordered() && run.header.stream == stream;
        self.runs.iter().filter(|(_, run)| matches(run)).map(|(&first, _)| first).collect()
    }

    /// Drops the chunk with the highest TSN if it is beyond `position`; returns where it was and its bytes.
    pub(super) fn drop_highest(&mut self, position: u64) -> Option<(u64, usize)> {
        let mut entry = self.runs.last_entry()?;
        let last = entry.key() + entry.get().fragments() - 1;
        if last <= position {
            return None;
        }
        let run = entry.get_mut();
        let len = run.pieces.pop_back()?.len();
        run.bytes -= len;
        if run.is_complete() && run.header.is_ordered() {
            self.waiting.remove(&(run.header.stream, run.header.ssn.0));
        }
        run.ends = false;
        if run.pieces.is_empty() {
            entry.remove();
        }
        self.fragments -= 1;
        self.bytes -= len;
        Some((last, len))
    }

    /// The positions of all fragments, run by run.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.runs.iter().map(|(&first, run)| first..first + run.fragments())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    #[inline]
    pub(super) fn fragments(&self) -> usize {
        self.fragments
    }

    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(any(debug_assertions, test, fuzzing))]
    /// Panics if the runs contradict each other. Walks everything.
    pub(super) fn invariants(&self, cumulative: u64) {
        let mut end = cumulative + 1;
        let (mut fragments, mut bytes, mut waiting) = (0, 0, 0);
        for (&first, run) in &self.runs {
            assert!(first >= end, "runs overlap or begin at or below the cumulative TSN");
            assert!(!run.pieces.is_empty());
            assert_eq!(run.bytes, run.pieces.iter().map(|piece| piece.len()).sum::<usize>());
            end = first + run.fragments();
            fragments += run.pieces.len();
            bytes += run.bytes;
            if run.is_complete() && run.header.is_ordered() {
                waiting += 1;
                let key = (run.header.stream, run.header.ssn.0);
                assert_eq!(self.waiting.get(&key), Some(&first), "a whole message is not waiting");
            }
        }
        assert_eq!((fragments, bytes, waiting), (self.fragments, self.bytes, self.waiting.len()));
    }
}

/// Whether two chunks with consecutive TSNs are of one message: the first without or with an E bit, the second
/// without or with a B bit.
fn joins(first: Header, first_ends: bool, second: Header, second_begins: bool) -> Result<bool, &'static str> {
    match (first_ends, second_begins) {
        (true, true) => Ok(false),
        (true, false) => Err(NO_BEGINNING),
        (false, true) => Err(BEGUN_WITHIN),
        (false, false) if first == second => Ok(true),
        (false, false) => Err(INCONSISTENT),
    }
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
