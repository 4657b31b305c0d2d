//! PAD (RFC 4820 §3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0x84  |   Flags = 0   |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                          Padding Data                         /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{RawChunk, chunk_type};
use crate::emit::{self, EmitChunk, pad_to_word};
use crate::tlv::TLV_HEADER_LEN;

/// Makes a packet longer and means nothing else; path MTU probes are built with it (RFC 8899 §6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad<'a> {
    /// Bytes without meaning.
    pub padding: &'a [u8],
}

impl<'a> Pad<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Self {
        Self { padding: raw.value() }
    }
}

impl EmitChunk for Pad<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, self.padding.len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::PAD, 0, &[], self.padding);
    }
}

/// A [`Pad`] of zero bytes to send.
#[derive(Clone, Copy, Debug)]
pub struct PadBuilder {
    /// Bytes of padding data, so that the chunk is four bytes longer.
    pub padding_len: u16,
}

impl PadBuilder {
    /// The PAD chunk that takes exactly `room` bytes of a packet, or `None` if there is none: `room` is not a
    /// multiple of four, below four, or beyond what a chunk can hold.
    #[must_use]
    pub fn filling(room: usize) -> Option<Self> {
        let length = u16::try_from(room).ok()?;
        let padding_len = length.checked_sub(TLV_HEADER_LEN as u16)?;
        length.is_multiple_of(4).then_some(Self { padding_len })
    }
}

impl EmitChunk for PadBuilder {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, usize::from(self.padding_len))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let padding_len = usize::from(self.padding_len);
        out.extend_from_slice(&emit::chunk_header(chunk_type::PAD, 0, TLV_HEADER_LEN + padding_len));
        out.resize(out.len() + padding_len, 0);
        pad_to_word(out, padding_len);
    }
}

#[cfg(test)]
#[path = "pad_tests.rs"]
mod tests;
