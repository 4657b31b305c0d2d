//! SHUTDOWN COMPLETE (RFC 9260 §3.3.13).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 14   |  Reserved   |T|          Length = 4           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::abort::TAG_REFLECTED;
use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};

/// Answers a SHUTDOWN ACK: the association is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShutdownComplete {
    /// T bit: the packet's verification tag is the reflected one (RFC 9260 §8.4, §8.5.1).
    pub tag_reflected: bool,
}

impl ShutdownComplete {
    pub(super) fn decode(raw: &RawChunk<'_>) -> Result<Self, ChunkErrorKind> {
        raw.exactly::<0>().map(|_| Self { tag_reflected: raw.flags() & TAG_REFLECTED != 0 })
    }
}

impl EmitChunk for ShutdownComplete {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, 0)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let flags = u8::from(self.tag_reflected) * TAG_REFLECTED;
        emit::chunk(out, chunk_type::SHUTDOWN_COMPLETE, flags, &[], &[]);
    }
}

#[cfg(test)]
#[path = "shutdown_complete_tests.rs"]
mod tests;
