//! The DTLS chunk (chunk draft §4.2) and the header of the record in it (RFC 9147 §4), in the only form that the draft allows.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0x41  |   Reserved  |R|         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Pre-Padding  |0|0|1|0|1|0|E E|    Record Number, low 16 bits |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! /                        Encrypted Record                       /
//! \                               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                               |          Post-Padding         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::RawChunk;

use super::CHUNK_DTLS;

/// Bytes of the header of a record: flags and epoch, and the record number.
pub const RECORD_HEADER_LEN: usize = 3;

/// Bytes of the chunk before the encrypted record: chunk header, pre-padding and record header. So what is encrypted begins on a word.
pub const DTLS_CHUNK_OVERHEAD: usize = 8;

/// The first byte of a record header: a 16-bit record number, neither a length nor a Connection ID (RFC 9147 §4).
const FLAGS: u8 = 0b0010_1000;

/// The bits of the first byte that hold the epoch.
const EPOCH: u8 = 0b11;

/// A DTLS chunk, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtls<'a> {
    /// The keys are those kept for a restart (R bit).
    pub restart: bool,
    /// The low two bits of the epoch.
    pub epoch: u8,
    /// The record number, masked, as it is on the wire.
    pub number: [u8; 2],
    /// The encrypted record with its tag.
    pub ciphertext: &'a [u8],
}

impl<'a> Dtls<'a> {
    /// Reads a chunk of type [`CHUNK_DTLS`]; `None` if the record has another form than the one that is allowed.
    #[must_use]
    pub fn read(raw: &RawChunk<'a>) -> Option<Self> {
        let (&[_, flags, n0, n1], ciphertext) = raw.value().split_first_chunk()?;
        let known = raw.chunk_type() == CHUNK_DTLS && flags & !EPOCH == FLAGS;
        known.then_some(Self {
            restart: raw.flags() & 1 != 0,
            epoch: flags & EPOCH,
            number: [n0, n1],
            ciphertext,
        })
    }

    /// The bytes of a chunk up to its encrypted record of `ciphertext` bytes. The record number is not masked yet.
    #[must_use]
    pub const fn header(epoch: u8, number: u16, ciphertext: usize) -> [u8; DTLS_CHUNK_OVERHEAD] {
        let [l0, l1] = ((DTLS_CHUNK_OVERHEAD + ciphertext) as u16).to_be_bytes();
        let [n0, n1] = number.to_be_bytes();
        [CHUNK_DTLS, 0, l0, l1, 0, FLAGS | epoch & EPOCH, n0, n1]
    }

    /// The header of the record with this number, unmasked: what is authenticated besides the ciphertext (RFC 9147 §4.2.3).
    #[must_use]
    pub const fn record_header(epoch: u8, number: u16) -> [u8; RECORD_HEADER_LEN] {
        let [n0, n1] = number.to_be_bytes();
        [FLAGS | epoch & EPOCH, n0, n1]
    }
}

#[cfg(test)]
#[path = "dtls_tests.rs"]
mod tests;
