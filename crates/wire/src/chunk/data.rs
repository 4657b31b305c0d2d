//! DATA (RFC 9260 §3.3.1; the I bit is RFC 7053).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 0    |  Res  |I|U|B|E|            Length             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                              TSN                              |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |      Stream Identifier S      |   Stream Sequence Number n    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  Payload Protocol Identifier                  |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                 User Data (seq n of Stream S)                 /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk, padded};
use crate::serial::{PayloadProtocolId, Ssn, StreamId, Tsn};

/// Bytes of a DATA chunk before the user data.
pub const DATA_HEADER_LEN: usize = 16;

pub(super) const IMMEDIATE: u8 = 0x08;
pub(super) const UNORDERED: u8 = 0x04;
pub(super) const BEGINNING: u8 = 0x02;
pub(super) const ENDING: u8 = 0x01;

/// A piece of a user message, or all of it.
///
/// An empty payload is well-formed here, so that the receiver can name the TSN in the "No User Data" cause it has to
/// answer with (RFC 9260 §6.2); senders must not make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// I bit: the sender wants the SACK without delay (RFC 7053).
    pub immediate: bool,
    /// U bit: the message has no place in the order of its stream; `ssn` means nothing.
    pub unordered: bool,
    /// B bit: first fragment of its message.
    pub beginning: bool,
    /// E bit: last fragment of its message.
    pub ending: bool,
    /// Transmission Sequence Number.
    pub tsn: Tsn,
    /// The stream.
    pub stream: StreamId,
    /// Stream Sequence Number, the same in all fragments of a message.
    pub ssn: Ssn,
    /// Payload Protocol Identifier.
    pub ppid: PayloadProtocolId,
    /// User data.
    pub payload: &'a [u8],
}

impl<'a> Data<'a> {
    #[inline]
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (header, payload) =
            raw.bytes().split_first_chunk::<DATA_HEADER_LEN>().ok_or(ChunkErrorKind::TooShort)?;
        let [_, flags, _, _, t0, t1, t2, t3, s0, s1, n0, n1, p0, p1, p2, p3] = *header;
        Ok(Self {
            immediate: flags & IMMEDIATE != 0,
            unordered: flags & UNORDERED != 0,
            beginning: flags & BEGINNING != 0,
            ending: flags & ENDING != 0,
            tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
            stream: StreamId(u16::from_be_bytes([s0, s1])),
            ssn: Ssn(u16::from_be_bytes([n0, n1])),
            ppid: PayloadProtocolId(u32::from_be_bytes([p0, p1, p2, p3])),
            payload,
        })
    }
}

pub(super) fn fragment_flags(immediate: bool, unordered: bool, beginning: bool, ending: bool) -> u8 {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    flag(immediate, IMMEDIATE)
        | flag(unordered, UNORDERED)
        | flag(beginning, BEGINNING)
        | flag(ending, ENDING)
}

impl EmitChunk for Data<'_> {
    #[inline]
    fn wire_len(&self) -> usize {
        DATA_HEADER_LEN + padded(self.payload.len())
    }

    #[inline]
    fn emit(&self, out: &mut Vec<u8>) {
        let flags = fragment_flags(self.immediate, self.unordered, self.beginning, self.ending);
        let [l0, l1] = emit::length_field(DATA_HEADER_LEN + self.payload.len());
        let [t0, t1, t2, t3] = self.tsn.0.to_be_bytes();
        let [s0, s1] = self.stream.0.to_be_bytes();
        let [n0, n1] = self.ssn.0.to_be_bytes();
        let [p0, p1, p2, p3] = self.ppid.0.to_be_bytes();
        out.reserve(self.wire_len());
        out.extend_from_slice(&[
            chunk_type::DATA,
            flags,
            l0,
            l1,
            t0,
            t1,
            t2,
            t3,
            s0,
            s1,
            n0,
            n1,
            p0,
            p1,
            p2,
            p3,
        ]);
        out.extend_from_slice(self.payload);
        emit::pad_to_word(out, self.payload.len());
    }
}

#[cfg(test)]
#[path = "data_tests.rs"]
mod tests;
