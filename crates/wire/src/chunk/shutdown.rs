//! SHUTDOWN (RFC 9260 §3.3.8).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 7   |  Chunk Flags  |           Length = 8          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Cumulative TSN Ack                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::serial::Tsn;

/// Asks to end the association gracefully.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shutdown {
    /// Every TSN up to and including this one was received; says nothing about those after it.
    pub cumulative_tsn_ack: Tsn,
}

impl Shutdown {
    pub(super) fn decode(raw: &RawChunk<'_>) -> Result<Self, ChunkErrorKind> {
        raw.exactly().map(|tsn| Self { cumulative_tsn_ack: Tsn(u32::from_be_bytes(tsn)) })
    }
}

impl EmitChunk for Shutdown {
    fn wire_len(&self) -> usize {
        emit::chunk_len(size_of::<Tsn>(), 0)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::SHUTDOWN, 0, &self.cumulative_tsn_ack.0.to_be_bytes(), &[]);
    }
}

#[cfg(test)]
#[path = "shutdown_tests.rs"]
mod tests;
