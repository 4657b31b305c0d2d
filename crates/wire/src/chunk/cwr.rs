//! CWR (RFC 4960 appendix A).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 13   |  Chunk Flags  |           Length = 8          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Lowest TSN Number                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::serial::Tsn;

/// Answers an ECNE: the congestion window was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cwr {
    /// The TSN of the ECNE answered.
    pub lowest_tsn: Tsn,
}

impl Cwr {
    pub(super) fn decode(raw: &RawChunk<'_>) -> Result<Self, ChunkErrorKind> {
        raw.exactly().map(|tsn| Self { lowest_tsn: Tsn(u32::from_be_bytes(tsn)) })
    }
}

impl EmitChunk for Cwr {
    fn wire_len(&self) -> usize {
        emit::chunk_len(size_of::<Tsn>(), 0)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::CWR, 0, &self.lowest_tsn.0.to_be_bytes(), &[]);
    }
}

#[cfg(test)]
#[path = "cwr_tests.rs"]
mod tests;
