//! SHUTDOWN ACK (RFC 9260 §3.3.9).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 8   |  Chunk Flags  |           Length = 4          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};

/// Answers a SHUTDOWN once everything was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShutdownAck;

impl ShutdownAck {
    pub(super) fn decode(raw: &RawChunk<'_>) -> Result<Self, ChunkErrorKind> {
        raw.exactly::<0>().map(|_| Self)
    }
}

impl EmitChunk for ShutdownAck {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, 0)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::SHUTDOWN_ACK, 0, &[], &[]);
    }
}

#[cfg(test)]
#[path = "shutdown_ack_tests.rs"]
mod tests;
