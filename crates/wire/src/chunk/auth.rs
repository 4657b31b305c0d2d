//! AUTH (RFC 4895 §5.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0x0F  |   Flags = 0   |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Shared Key Identifier      |        HMAC Identifier        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                              HMAC                             /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};

const FIXED_LEN: usize = 4;

/// Authenticates the chunks behind it in the packet.
///
/// The HMAC is computed over this chunk with a zero HMAC and all that follows, padding included (RFC 4895 §6.2):
/// see [`RawChunk::offset`] when reading and [`PacketWriter::bytes_mut`](crate::PacketWriter::bytes_mut) when writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Which endpoint pair shared key was used.
    pub shared_key_id: u16,
    /// Which digest: 1 is SHA-1, 3 is SHA-256 (RFC 4895 §3.3).
    pub hmac_id: u16,
    /// The HMAC.
    pub hmac: &'a [u8],
}

impl<'a> Auth<'a> {
    /// Where the HMAC lies, in bytes from the start of the chunk.
    pub const HMAC_OFFSET: usize = 8;

    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (&[k0, k1, h0, h1], hmac) = raw.split::<FIXED_LEN>()?;
        Ok(Self { shared_key_id: u16::from_be_bytes([k0, k1]), hmac_id: u16::from_be_bytes([h0, h1]), hmac })
    }
}

impl EmitChunk for Auth<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.hmac.len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let [k0, k1] = self.shared_key_id.to_be_bytes();
        let [h0, h1] = self.hmac_id.to_be_bytes();
        emit::chunk(out, chunk_type::AUTH, 0, &[k0, k1, h0, h1], self.hmac);
    }
}

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
