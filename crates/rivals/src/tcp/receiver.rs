use whimbrel_machine::Instant;

use super::DelayedAck;
use super::segment::{SACK_BLOCKS_MAX, SackBlocks};

/// Pieces out of order that are kept, at most; a peer that makes more must send them again.
const PIECES_MAX: usize = 1024;

/// The receiving half of a connection. Positions are offsets into the stream of bytes.
#[derive(Debug)]
pub(crate) struct Receiver {
    delayed_ack: DelayedAck,
    window: u64,
    /// The first offset that is missing (RCV.NXT).
    next: u64,
    /// What has come beyond, sorted, disjoint and not touching.
    pieces: Vec<Piece>,
    arrivals: u64,
    /// What the last segment brought that was here already (RFC 2883), until an acknowledgement leaves.
    duplicate: Option<(u64, u64)>,
    unacknowledged: u32,
    due: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    left: u64,
    right: u64,
    /// The number of the arrival that touched it last: the first block of a SACK is the latest (RFC 2018 §4).
    touched: u64,
}

/// Whether an acknowledgement has to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    Now,
    Later,
}

impl Receiver {
    pub(crate) const fn new(delayed_ack: DelayedAck, window: u64) -> Self {
        Self {
            delayed_ack,
            window,
            next: 0,
            pieces: Vec::new(),
            arrivals: 0,
            duplicate: None,
            unacknowledged: 0,
            due: None,
        }
    }

    /// The first offset that is missing.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// When an acknowledgement is due.
    pub(crate) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Takes in data; says whether to acknowledge at once. What lies beyond the window is not kept.
    pub(crate) fn on_data(&mut self, now: Instant, offset: u64, bytes: u64) -> Urgency {
        self.duplicate = self.duplicate_in(offset, offset + bytes);
        let right = (offset + bytes).min(self.next + self.window);
        if right <= self.next || offset > right {
            return Urgency::Now;
        }
        if offset > self.next {
            self.keep(offset, right);
            return Urgency::Now;
        }
        self.next = right;
        let gaps = !self.pieces.is_empty();
        let done = self.pieces.iter().take_while(|piece| piece.left <= self.next).count();
        for piece in self.pieces.drain(..done) {
            self.next = self.next.max(piece.right);
        }
        // A segment that fills a gap, or arrives beside one, is acknowledged at once (RFC 5681 §4.2).
        self.unacknowledged += 1;
        if gaps || self.unacknowledged >= self.delayed_ack.segments {
            return Urgency::Now;
        }
        self.due = Some(self.due.unwrap_or(now + self.delayed_ack.after));
        Urgency::Later
    }

    /// An acknowledgement leaves.
    pub(crate) const fn on_acknowledged(&mut self) {
        (self.unacknowledged, self.due, self.duplicate) = (0, None, None);
    }

    /// What the last segment brought that was here already.
    pub(crate) const fn duplicate(&self) -> Option<(u64, u64)> {
        self.duplicate
    }

    /// The part of a segment that is here already, the first if there are several.
    fn duplicate_in(&self, left: u64, right: u64) -> Option<(u64, u64)> {
        if left < self.next {
            return Some((left, right.min(self.next)));
        }
        let first = self.pieces.partition_point(|piece| piece.right <= left);
        let piece = self.pieces.get(first).filter(|piece| piece.left < right)?;
        Some((left.max(piece.left), right.min(piece.right)))
    }

    /// The blocks of a SACK, the latest first; `sequence` makes sequence numbers of offsets.
    pub(crate) fn blocks(&self, sequence: impl Fn(u64) -> u32) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let mut below = u64::MAX;
        for _ in 0..SACK_BLOCKS_MAX.min(self.pieces.len()) {
            let latest = self.pieces.iter().filter(|piece| piece.touched < below);
            let Some(piece) = latest.max_by_key(|piece| piece.touched) else { break };
            blocks.push(sequence(piece.left), sequence(piece.right));
            below = piece.touched;
        }
        blocks
    }

    fn keep(&mut self, left: u64, right: u64) {
        self.arrivals += 1;
        let first = self.pieces.partition_point(|piece| piece.right < left);
        let touching = self.pieces[first..].iter().take_while(|piece| piece.left <= right).count();
        let mut merged = Piece { left, right, touched: self.arrivals };
        for piece in &self.pieces[first..first + touching] {
            merged.left = merged.left.min(piece.left);
            merged.right = merged.right.max(piece.right);
        }
        if touching > 0 || self.pieces.len() < PIECES_MAX {
            self.pieces.splice(first..first + touching, [merged]);
        }
    }

    /// Pieces out of order that are kept.
    #[cfg(test)]
    pub(crate) fn pieces(&self) -> Vec<(u64, u64)> {
        self.pieces.iter().map(|piece| (piece.left, piece.right)).collect()
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
