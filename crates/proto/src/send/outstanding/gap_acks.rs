//! The gap ack blocks of a SACK (RFC 9260 §3.3.4).

use core::ops::Range;

/// Gap ack blocks that every SACK has room for: Linux writes 16 at most, and 100 fit the smallest packet (RFC 9260 §6.7).
pub(crate) const LEAST_ROOM: usize = 16;

/// What the gap ack blocks of a SACK covered.
#[derive(Debug, Default)]
pub(super) struct GapAcks {
    /// How many there are.
    pub blocks: usize,
    /// Chunks covered that the receiver may still drop.
    pub count: usize,
    /// One more than the highest index covered.
    pub end: usize,
    /// One more than the highest index newly acknowledged.
    pub newly_end: usize,
}

/// The gap ack blocks as ranges of indices. Offset 1 is the chunk after the Cumulative TSN Ack, which a gap cannot
/// acknowledge, and blocks must ascend; anything else is nonsense and carries no information.
pub(super) fn sane_blocks(
    gaps: impl Iterator<Item = (u16, u16)> + Clone,
) -> impl Iterator<Item = Range<usize>> + Clone {
    gaps.scan(1, |last, (start, end)| {
        let sane = start > *last && end >= start;
        if sane {
            *last = end;
        }
        Some(sane.then(|| usize::from(start) - 1..usize::from(end)))
    })
    .flatten()
}

/// How far the gap ack blocks of a peer are believed.
///
/// A receiver may drop what it has reported (RFC 9260 §6.2), so that a chunk can go back and forth between acknowledged and in flight.
/// One that does this without end would make each SACK cost as much as all that is outstanding. So a peer may take back
/// as many chunks as [`PER_CHUNK_SENT`] times those that it has been sent, and [`AT_FIRST`] besides. From then on its gap ack blocks say
/// nothing until so many chunks have been sent again: only the Cumulative TSN Ack and T3-rtx are left, which are always right.
#[derive(Debug)]
pub(super) struct Belief(i64);

/// A receiver whose memory is short drops what is sent again and again, but not more than that.
const PER_CHUNK_SENT: i64 = 4;
/// As many chunks as gap ack blocks reach.
const AT_FIRST: i64 = 1 << 16;

impl Default for Belief {
    fn default() -> Self {
        Self(AT_FIRST)
    }
}

impl Belief {
    /// A chunk has been sent.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.0 = (self.0 + PER_CHUNK_SENT).min(AT_FIRST);
    }

    /// What was acknowledged is no more.
    pub(super) fn on_reneged(&mut self) {
        self.0 -= 1;
    }

    /// Whether gap ack blocks are believed now.
    pub(super) fn is_left(&self) -> bool {
        self.0 > 0
    }
}
