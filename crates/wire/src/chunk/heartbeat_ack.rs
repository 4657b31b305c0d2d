//! HEARTBEAT ACK (RFC 9260 §3.3.6).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 5   |  Chunk Flags  |      Heartbeat Ack Length     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /          Heartbeat Information TLV (Variable-Length)          /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::heartbeat::{decode_info, emit_info, info_len};
use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::EmitChunk;

/// Answers a HEARTBEAT with the information that came with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatAck<'a> {
    /// Sender-specific Heartbeat Info: opaque to everyone but the sender of the HEARTBEAT.
    pub info: &'a [u8],
}

impl<'a> HeartbeatAck<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        Ok(Self { info: decode_info(raw)? })
    }
}

impl EmitChunk for HeartbeatAck<'_> {
    fn wire_len(&self) -> usize {
        info_len(self.info)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit_info(out, chunk_type::HEARTBEAT_ACK, self.info);
    }
}

#[cfg(test)]
#[path = "heartbeat_ack_tests.rs"]
mod tests;
