//! I-FORWARD-TSN (RFC 8260 §2.3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 194  |  Flags = 0x00 |       Length = Variable       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       New Cumulative TSN                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |       Stream Identifier       |          Reserved           |U|
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Message Identifier                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                                                               /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::list::{List, WireItem, array};
use crate::serial::{MessageId, StreamId, Tsn};

const FIXED_LEN: usize = 4;

const UNORDERED: u8 = 0x01;

/// The last message a stream skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SkippedMessage {
    /// The stream.
    pub stream: StreamId,
    /// U bit: `message_id` counts unordered messages.
    pub unordered: bool,
    /// The largest Message Identifier skipped.
    pub message_id: MessageId,
}

impl WireItem for SkippedMessage {
    const LEN: usize = 8;

    fn read(bytes: &[u8]) -> Self {
        let [s0, s1, _, flags, m0, m1, m2, m3] = array(bytes);
        Self {
            stream: StreamId(u16::from_be_bytes([s0, s1])),
            unordered: flags & UNORDERED != 0,
            message_id: MessageId(u32::from_be_bytes([m0, m1, m2, m3])),
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.stream.0.to_be_bytes());
        out.extend_from_slice(&[0, u8::from(self.unordered) * UNORDERED]);
        out.extend_from_slice(&self.message_id.0.to_be_bytes());
    }
}

/// Tells the receiver to stop waiting for messages the sender gave up (in place of FORWARD TSN, with I-DATA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IForwardTsn<'a> {
    /// Every TSN up to and including this one counts as received.
    pub new_cumulative_tsn: Tsn,
    /// The streams that lose messages.
    pub skipped: List<'a, SkippedMessage>,
}

impl<'a> IForwardTsn<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (&tsn, skipped) = raw.split::<FIXED_LEN>()?;
        Ok(Self {
            new_cumulative_tsn: Tsn(u32::from_be_bytes(tsn)),
            skipped: List::from_wire(skipped).ok_or(ChunkErrorKind::CountMismatch)?,
        })
    }
}

impl EmitChunk for IForwardTsn<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.skipped.wire_len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.wire_len());
        out.extend_from_slice(&emit::chunk_header(chunk_type::I_FORWARD_TSN, 0, self.wire_len()));
        out.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
        self.skipped.emit(out);
    }
}

#[cfg(test)]
#[path = "i_forward_tsn_tests.rs"]
mod tests;
