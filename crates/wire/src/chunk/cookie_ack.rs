//! COOKIE ACK (RFC 9260 §3.3.12).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 11   |  Chunk Flags  |           Length = 4          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};

/// Answers a COOKIE ECHO: the association is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CookieAck;

impl CookieAck {
    pub(super) fn decode(raw: &RawChunk<'_>) -> Result<Self, ChunkErrorKind> {
        raw.exactly::<0>().map(|_| Self)
    }
}

impl EmitChunk for CookieAck {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, 0)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::COOKIE_ACK, 0, &[], &[]);
    }
}

#[cfg(test)]
#[path = "cookie_ack_tests.rs"]
mod tests;
