//! I-DATA (RFC 8260 §2.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 64   |  Res  |I|U|B|E|       Length = Variable       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                              TSN                              |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |        Stream Identifier      |           Reserved            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      Message Identifier                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Payload Protocol Identifier / Fragment Sequence Number     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                           User Data                           /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::data::{BEGINNING, ENDING, IMMEDIATE, UNORDERED, fragment_flags};
use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk, padded};
use crate::serial::{MessageId, PayloadProtocolId, StreamId, Tsn};

/// Bytes of an I-DATA chunk before the user data.
pub const I_DATA_HEADER_LEN: usize = 20;

/// Where in its message a fragment lies. One field of the chunk carries the identifier or the number, and the B bit
/// says which (RFC 8260 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FragmentPosition {
    /// The first fragment (B bit set), which carries the Payload Protocol Identifier; its number is zero.
    First(PayloadProtocolId),
    /// A later fragment and its Fragment Sequence Number, which wraps.
    Later(u32),
}

/// A piece of a user message that may be interleaved with pieces of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IData<'a> {
    /// I bit: the sender wants the SACK without delay (RFC 7053).
    pub immediate: bool,
    /// U bit: the message has no place in the order of its stream.
    pub unordered: bool,
    /// E bit: last fragment of its message.
    pub ending: bool,
    /// Transmission Sequence Number.
    pub tsn: Tsn,
    /// The stream.
    pub stream: StreamId,
    /// Message Identifier; ordered and unordered messages of a stream are counted apart.
    pub message_id: MessageId,
    /// First fragment or later one: also the B bit.
    pub position: FragmentPosition,
    /// User data; see [`Data`](crate::Data) about an empty one.
    pub payload: &'a [u8],
}

impl<'a> IData<'a> {
    /// B bit: first fragment of its message.
    #[must_use]
    pub const fn beginning(&self) -> bool {
        matches!(self.position, FragmentPosition::First(_))
    }

    /// The Fragment Sequence Number, zero for the first fragment.
    #[must_use]
    pub const fn fragment_sequence_number(&self) -> u32 {
        match self.position {
            FragmentPosition::First(_) => 0,
            FragmentPosition::Later(number) => number,
        }
    }

    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (header, payload) =
            raw.bytes().split_first_chunk::<I_DATA_HEADER_LEN>().ok_or(ChunkErrorKind::TooShort)?;
        let [_, flags, _, _, t0, t1, t2, t3, s0, s1, _, _, m0, m1, m2, m3, p0, p1, p2, p3] = *header;
        let shared = u32::from_be_bytes([p0, p1, p2, p3]);
        let position = if flags & BEGINNING != 0 {
            FragmentPosition::First(PayloadProtocolId(shared))
        } else {
            FragmentPosition::Later(shared)
        };
        Ok(Self {
            immediate: flags & IMMEDIATE != 0,
            unordered: flags & UNORDERED != 0,
            ending: flags & ENDING != 0,
            tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
            stream: StreamId(u16::from_be_bytes([s0, s1])),
            message_id: MessageId(u32::from_be_bytes([m0, m1, m2, m3])),
            position,
            payload,
        })
    }
}

impl EmitChunk for IData<'_> {
    #[inline]
    fn wire_len(&self) -> usize {
        I_DATA_HEADER_LEN + padded(self.payload.len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let length = I_DATA_HEADER_LEN + self.payload.len();
        let flags = fragment_flags(self.immediate, self.unordered, self.beginning(), self.ending);
        let shared = match self.position {
            FragmentPosition::First(ppid) => ppid.0,
            FragmentPosition::Later(number) => number,
        };
        let mut header = [0; I_DATA_HEADER_LEN];
        header[..4].copy_from_slice(&emit::chunk_header(chunk_type::I_DATA, flags, length));
        header[4..8].copy_from_slice(&self.tsn.0.to_be_bytes());
        header[8..10].copy_from_slice(&self.stream.0.to_be_bytes());
        header[12..16].copy_from_slice(&self.message_id.0.to_be_bytes());
        header[16..].copy_from_slice(&shared.to_be_bytes());
        out.reserve(self.wire_len());
        out.extend_from_slice(&header);
        out.extend_from_slice(self.payload);
        emit::pad_to_word(out, length);
    }
}

#[cfg(test)]
#[path = "i_data_tests.rs"]
mod tests;
