//! SACK (RFC 9260 §3.3.4).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 3    |  Chunk Flags  |         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      Cumulative TSN Ack                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! | Number of Gap Ack Blocks = N  |  Number of Duplicate TSNs = M |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Gap Ack Block #1 Start     |     Gap Ack Block #1 End      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! /                              ...                              /
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Gap Ack Block #N Start     |     Gap Ack Block #N End      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Duplicate TSN 1                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! /                              ...                              /
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Duplicate TSN M                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use core::fmt;

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::serial::Tsn;

const FIXED_LEN: usize = 12;
/// Bytes of one gap ack block, and of one duplicate TSN.
pub(crate) const ENTRY_LEN: usize = 4;
/// Where the number of packets is in the flags.
pub(crate) const PACKETS_SHIFT: u32 = 6;
/// The largest number that there is room for.
pub(crate) const MOST_PACKETS: u8 = 3;

/// A run of TSNs received beyond a gap, as offsets from the Cumulative TSN Ack, both inclusive.
///
/// Whatever the sender wrote: an end before the start, a start of zero and overlaps are for the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GapAckBlock {
    /// Offset of the first TSN received.
    pub start: u16,
    /// Offset of the last TSN received.
    pub end: u16,
}

impl GapAckBlock {
    #[inline]
    pub(crate) fn read(&[s0, s1, e0, e1]: &[u8; ENTRY_LEN]) -> Self {
        Self { start: u16::from_be_bytes([s0, s1]), end: u16::from_be_bytes([e0, e1]) }
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        let ([s0, s1], [e0, e1]) = (self.start.to_be_bytes(), self.end.to_be_bytes());
        out.extend_from_slice(&[s0, s1, e0, e1]);
    }
}

/// Acknowledges DATA received.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sack<'a> {
    /// Every TSN up to and including this one was received.
    pub cumulative_tsn_ack: Tsn,
    /// Receive buffer left, in bytes.
    pub a_rwnd: u32,
    /// How many packets with DATA it is for, if the receiver says so (delayed acknowledgement for concurrent multipath transfer); 3 stands for more, too. They are the
    /// two highest flags, which RFC 9260 §3.3.4 leaves at 0; usrsctp and FreeBSD have them there.
    pub packets: u8,
    gap_ack_blocks: &'a [[u8; ENTRY_LEN]],
    duplicate_tsns: &'a [[u8; ENTRY_LEN]],
}

impl<'a> Sack<'a> {
    #[inline]
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (fixed, entries) = raw.split::<FIXED_LEN>()?;
        let [c0, c1, c2, c3, w0, w1, w2, w3, n0, n1, m0, m1] = *fixed;
        let blocks = usize::from(u16::from_be_bytes([n0, n1]));
        let duplicates = usize::from(u16::from_be_bytes([m0, m1]));
        let (entries, []) = entries.as_chunks::<ENTRY_LEN>() else {
            return Err(ChunkErrorKind::CountMismatch);
        };
        if entries.len() != blocks + duplicates {
            return Err(ChunkErrorKind::CountMismatch);
        }
        let (gap_ack_blocks, duplicate_tsns) =
            entries.split_at_checked(blocks).ok_or(ChunkErrorKind::CountMismatch)?;
        Ok(Self {
            cumulative_tsn_ack: Tsn(u32::from_be_bytes([c0, c1, c2, c3])),
            a_rwnd: u32::from_be_bytes([w0, w1, w2, w3]),
            packets: raw.flags() >> PACKETS_SHIFT,
            gap_ack_blocks,
            duplicate_tsns,
        })
    }

    /// One that is made of what another chunk says.
    pub(crate) fn of_parts(
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets: u8,
        gap_ack_blocks: &'a [[u8; ENTRY_LEN]],
        duplicate_tsns: &'a [[u8; ENTRY_LEN]],
    ) -> Self {
        Self { cumulative_tsn_ack, a_rwnd, packets, gap_ack_blocks, duplicate_tsns }
    }

    /// The gap ack blocks in the order sent.
    #[inline]
    pub fn gap_ack_blocks(
        &self,
    ) -> impl ExactSizeIterator<Item = GapAckBlock> + DoubleEndedIterator + Clone + use<'a> {
        self.gap_ack_blocks.iter().map(GapAckBlock::read)
    }

    /// The TSNs received more than once since the last SACK.
    #[inline]
    pub fn duplicate_tsns(
        &self,
    ) -> impl ExactSizeIterator<Item = Tsn> + DoubleEndedIterator + Clone + use<'a> {
        self.duplicate_tsns.iter().map(|&tsn| Tsn(u32::from_be_bytes(tsn)))
    }
}

impl fmt::Debug for Sack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sack")
            .field("cumulative_tsn_ack", &self.cumulative_tsn_ack)
            .field("a_rwnd", &self.a_rwnd)
            .field("packets", &self.packets)
            .field("gap_ack_blocks", &self.gap_ack_blocks().collect::<Vec<_>>())
            .field("duplicate_tsns", &self.duplicate_tsns().collect::<Vec<_>>())
            .finish()
    }
}

fn sack_len(blocks: usize, duplicates: usize) -> usize {
    emit::chunk_len(FIXED_LEN, (blocks + duplicates) * ENTRY_LEN)
}

fn emit_fixed(
    out: &mut Vec<u8>,
    packets: u8,
    cumulative_tsn_ack: Tsn,
    a_rwnd: u32,
    blocks: usize,
    duplicates: usize,
) {
    let length = sack_len(blocks, duplicates);
    let flags = packets.min(MOST_PACKETS) << PACKETS_SHIFT;
    let [h0, h1, h2, h3] = emit::chunk_header(chunk_type::SACK, flags, length);
    let [c0, c1, c2, c3] = cumulative_tsn_ack.0.to_be_bytes();
    let [w0, w1, w2, w3] = a_rwnd.to_be_bytes();
    let [n0, n1] = emit::length_field(blocks);
    let [m0, m1] = emit::length_field(duplicates);
    out.reserve(length);
    out.extend_from_slice(&[h0, h1, h2, h3, c0, c1, c2, c3, w0, w1, w2, w3, n0, n1, m0, m1]);
}

impl EmitChunk for Sack<'_> {
    fn wire_len(&self) -> usize {
        sack_len(self.gap_ack_blocks.len(), self.duplicate_tsns.len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let (blocks, duplicates) = (self.gap_ack_blocks, self.duplicate_tsns);
        let (cumulative, a_rwnd) = (self.cumulative_tsn_ack, self.a_rwnd);
        emit_fixed(out, self.packets, cumulative, a_rwnd, blocks.len(), duplicates.len());
        out.extend_from_slice(blocks.as_flattened());
        out.extend_from_slice(duplicates.as_flattened());
    }
}

/// A [`Sack`] to send.
///
/// It is as long as its lists are: the caller cuts them to what fits ([`max_entries`](Self::max_entries)).
#[derive(Clone, Copy, Debug)]
pub struct SackBuilder<'a> {
    /// See [`Sack::cumulative_tsn_ack`].
    pub cumulative_tsn_ack: Tsn,
    /// See [`Sack::a_rwnd`].
    pub a_rwnd: u32,
    /// Gap ack blocks, in ascending order and isolated (RFC 9260 §3.3.4).
    pub gap_ack_blocks: &'a [GapAckBlock],
    /// TSNs received more than once.
    pub duplicate_tsns: &'a [Tsn],
}

impl SackBuilder<'_> {
    /// How many gap ack blocks and duplicate TSNs together fit a SACK of `room` bytes.
    #[must_use]
    pub const fn max_entries(room: usize) -> usize {
        room.saturating_sub(emit::chunk_len(FIXED_LEN, 0)) / ENTRY_LEN
    }

    fn emit_for(&self, packets: u8, out: &mut Vec<u8>) {
        let (blocks, duplicates) = (self.gap_ack_blocks, self.duplicate_tsns);
        let (cumulative, a_rwnd) = (self.cumulative_tsn_ack, self.a_rwnd);
        emit_fixed(out, packets, cumulative, a_rwnd, blocks.len(), duplicates.len());
        for block in blocks {
            block.emit(out);
        }
        for tsn in duplicates {
            out.extend_from_slice(&tsn.0.to_be_bytes());
        }
    }
}

/// A [`SackBuilder`] that says how many packets it is for, see [`Sack::packets`].
#[derive(Clone, Copy, Debug)]
pub struct CountedSack<'a> {
    /// All else.
    pub sack: SackBuilder<'a>,
    /// Packets with DATA since the SACK before; more than 3 are said to be 3.
    pub packets: u8,
}

impl EmitChunk for CountedSack<'_> {
    fn wire_len(&self) -> usize {
        self.sack.wire_len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        self.sack.emit_for(self.packets, out);
    }
}

impl EmitChunk for SackBuilder<'_> {
    #[inline]
    fn wire_len(&self) -> usize {
        sack_len(self.gap_ack_blocks.len(), self.duplicate_tsns.len())
    }

    #[inline]
    fn emit(&self, out: &mut Vec<u8>) {
        self.emit_for(0, out);
    }
}

#[cfg(test)]
#[path = "sack_tests.rs"]
mod tests;
