//! A chunk of a type this crate does not know (RFC 9260 §3.2).

use crate::chunk::RawChunk;
use crate::emit::{self, EmitChunk};
use crate::tlv::TLV_HEADER_LEN;
use crate::unknown::UnknownAction;

/// A chunk that is not recognised. Nothing of it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown<'a> {
    /// The type number.
    pub chunk_type: u8,
    /// The flags.
    pub flags: u8,
    /// The chunk, header included and padding excluded, as an "Unrecognized Chunk Type" cause quotes it.
    pub raw: &'a [u8],
}

impl<'a> Unknown<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Self {
        Self { chunk_type: raw.chunk_type(), flags: raw.flags(), raw: raw.bytes() }
    }

    /// What the sender wants done with a chunk that is not recognised.
    #[must_use]
    pub const fn action(&self) -> UnknownAction {
        UnknownAction::from_high_bits(self.chunk_type)
    }

    fn value(&self) -> &'a [u8] {
        self.raw.get(TLV_HEADER_LEN..).unwrap_or_default()
    }
}

impl EmitChunk for Unknown<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, self.value().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, self.chunk_type, self.flags, &[], self.value());
    }
}

#[cfg(test)]
#[path = "unknown_tests.rs"]
mod tests;
