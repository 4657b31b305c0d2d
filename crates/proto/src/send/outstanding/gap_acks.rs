//! The gap ack blocks of a SACK (RFC 9260 §3.3.4).

use core::ops::Range;

/// What the gap ack blocks of a SACK covered.
#[derive(Debug, Default)]
pub(super) struct GapAcks {
    /// Chunks covered.
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
