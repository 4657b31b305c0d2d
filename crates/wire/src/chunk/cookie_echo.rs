//! COOKIE ECHO (RFC 9260 §3.3.11).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 10   |  Chunk Flags  |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                             Cookie                            /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};

/// Returns the State Cookie of an INIT ACK to its author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieEcho<'a> {
    /// The value of the State Cookie parameter, unchanged.
    pub cookie: &'a [u8],
}

impl<'a> CookieEcho<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Self {
        Self { cookie: raw.value() }
    }
}

impl EmitChunk for CookieEcho<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, self.cookie.len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::COOKIE_ECHO, 0, &[], self.cookie);
    }
}

#[cfg(test)]
#[path = "cookie_echo_tests.rs"]
mod tests;
