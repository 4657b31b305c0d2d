//! FORWARD TSN (RFC 3758 §3.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 192  |  Flags = 0x00 |       Length = Variable       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       New Cumulative TSN                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Stream-1            |       Stream Sequence-1       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                                                               /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Stream-N            |       Stream Sequence-N       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::list::{List, WireItem, array};
use crate::serial::{Ssn, StreamId, Tsn};

const FIXED_LEN: usize = 4;

/// The last message a stream skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SkippedStream {
    /// The stream.
    pub stream: StreamId,
    /// The largest Stream Sequence Number skipped in it.
    pub ssn: Ssn,
}

impl WireItem for SkippedStream {
    const LEN: usize = 4;

    fn read(bytes: &[u8]) -> Self {
        let [s0, s1, n0, n1] = array(bytes);
        Self { stream: StreamId(u16::from_be_bytes([s0, s1])), ssn: Ssn(u16::from_be_bytes([n0, n1])) }
    }

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.stream.0.to_be_bytes());
        out.extend_from_slice(&self.ssn.0.to_be_bytes());
    }
}

/// Tells the receiver to stop waiting for messages the sender gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardTsn<'a> {
    /// Every TSN up to and including this one counts as received.
    pub new_cumulative_tsn: Tsn,
    /// The streams that lose messages.
    pub skipped: List<'a, SkippedStream>,
}

impl<'a> ForwardTsn<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (&tsn, skipped) = raw.split::<FIXED_LEN>()?;
        Ok(Self {
            new_cumulative_tsn: Tsn(u32::from_be_bytes(tsn)),
            skipped: List::from_wire(skipped).ok_or(ChunkErrorKind::CountMismatch)?,
        })
    }
}

impl EmitChunk for ForwardTsn<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.skipped.wire_len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.wire_len());
        out.extend_from_slice(&emit::chunk_header(chunk_type::FORWARD_TSN, 0, self.wire_len()));
        out.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
        self.skipped.emit(out);
    }
}

#[cfg(test)]
#[path = "forward_tsn_tests.rs"]
mod tests;
