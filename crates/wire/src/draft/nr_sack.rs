//! NR-SACK, the SACK of which a part is for good (NR-SACK draft; the type is that of usrsctp, FreeBSD and tshark).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0x10  |  Chunk Flags  |         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      Cumulative TSN Ack                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Number of R Gap Ack Blocks   |  Number of NR Gap Ack Blocks  |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Number of Duplicate TSNs    |           Reserved            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! /   R gap ack blocks, NR gap ack blocks, duplicate TSNs as in   /
//! /   SACK                                                        /
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::CHUNK_NR_SACK;
use crate::chunk::{ENTRY_LEN, GapAckBlock, MOST_PACKETS, PACKETS_SHIFT, RawChunk, Sack, SackBuilder};
use crate::emit::{self, EmitChunk};
use crate::serial::Tsn;

/// Bytes of the chunk's value before its lists.
const FIXED_LEN: usize = 16;

/// An NR-SACK, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrSack<'a> {
    /// All that a SACK says. Its gap ack blocks are those of what the receiver may still drop (R).
    pub sack: Sack<'a>,
    non_renegable: &'a [[u8; ENTRY_LEN]],
}

impl<'a> NrSack<'a> {
    /// Reads a chunk of type [`CHUNK_NR_SACK`]; `None` if it is of another type or its lists do not fill it.
    #[must_use]
    pub fn read(raw: &RawChunk<'a>) -> Option<Self> {
        let (fixed, entries) = raw.value().split_first_chunk::<FIXED_LEN>()?;
        if raw.chunk_type() != CHUNK_NR_SACK {
            return None;
        }
        let [c0, c1, c2, c3, w0, w1, w2, w3, n0, n1, m0, m1, x0, x1, _, _] = *fixed;
        let count = |high, low| usize::from(u16::from_be_bytes([high, low]));
        let (renegable, kept, duplicates) = (count(n0, n1), count(m0, m1), count(x0, x1));
        let (entries, []) = entries.as_chunks::<ENTRY_LEN>() else { return None };
        if entries.len() != renegable + kept + duplicates {
            return None;
        }
        let (renegable, entries) = entries.split_at_checked(renegable)?;
        let (non_renegable, duplicates) = entries.split_at_checked(kept)?;
        let cumulative = Tsn(u32::from_be_bytes([c0, c1, c2, c3]));
        let a_rwnd = u32::from_be_bytes([w0, w1, w2, w3]);
        let packets = raw.flags() >> PACKETS_SHIFT;
        Some(Self { sack: Sack::of_parts(cumulative, a_rwnd, packets, renegable, duplicates), non_renegable })
    }

    /// The gap ack blocks of what the receiver will not drop, in the order sent.
    pub fn non_renegable_blocks(
        &self,
    ) -> impl ExactSizeIterator<Item = GapAckBlock> + DoubleEndedIterator + Clone + use<'a> {
        self.non_renegable.iter().map(GapAckBlock::read)
    }
}

/// A SACK is an NR-SACK of which nothing beyond the Cumulative TSN Ack is for good.
impl<'a> From<Sack<'a>> for NrSack<'a> {
    fn from(sack: Sack<'a>) -> Self {
        Self { sack, non_renegable: &[] }
    }
}

/// An [`NrSack`] to send.
///
/// It is as long as its lists are: the caller cuts them to what fits ([`max_entries`](Self::max_entries)).
#[derive(Clone, Copy, Debug)]
pub struct NrSackBuilder<'a> {
    /// All that a SACK says; its gap ack blocks are those of what may still be dropped (R).
    pub sack: SackBuilder<'a>,
    /// The gap ack blocks of what will not be dropped (NR), in ascending order, isolated, and without a TSN of the others.
    pub non_renegable_blocks: &'a [GapAckBlock],
    /// See [`Sack::packets`]; more than 3 are said to be 3.
    pub packets: u8,
}

impl NrSackBuilder<'_> {
    /// How many gap ack blocks of both kinds and duplicate TSNs together fit an NR-SACK of `room` bytes.
    #[must_use]
    pub const fn max_entries(room: usize) -> usize {
        room.saturating_sub(emit::chunk_len(FIXED_LEN, 0)) / ENTRY_LEN
    }

    fn entries(&self) -> usize {
        let Self { sack, non_renegable_blocks, .. } = self;
        sack.gap_ack_blocks.len() + non_renegable_blocks.len() + sack.duplicate_tsns.len()
    }
}

impl EmitChunk for NrSackBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.entries() * ENTRY_LEN)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let length = self.wire_len();
        out.reserve(length);
        let flags = self.packets.min(MOST_PACKETS) << PACKETS_SHIFT;
        out.extend_from_slice(&emit::chunk_header(CHUNK_NR_SACK, flags, length));
        out.extend_from_slice(&self.sack.cumulative_tsn_ack.0.to_be_bytes());
        out.extend_from_slice(&self.sack.a_rwnd.to_be_bytes());
        let lists = [self.sack.gap_ack_blocks, self.non_renegable_blocks];
        for count in [lists[0].len(), lists[1].len(), self.sack.duplicate_tsns.len(), 0] {
            out.extend_from_slice(&emit::length_field(count));
        }
        for block in lists.into_iter().flatten() {
            block.emit(out);
        }
        for tsn in self.sack.duplicate_tsns {
            out.extend_from_slice(&tsn.0.to_be_bytes());
        }
    }
}

#[cfg(test)]
#[path = "nr_sack_tests.rs"]
mod tests;
