//! Walking the chunks of a packet.

use core::fmt;

use crate::chunk::Chunk;
use crate::emit::padded;
use crate::packet::COMMON_HEADER_LEN;
use crate::tlv::{BadLength, TLV_HEADER_LEN, TlvCursor};

/// The chunks of a packet, in order.
///
/// A chunk whose length is usable but whose body is malformed is reported and the walk goes on behind it. After a
/// chunk whose length is unusable nothing can be located, so it is reported and is the last item ("if the receiver
/// detects a partial chunk, it MUST drop the chunk", RFC 9260 §6.10).
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    cursor: TlvCursor<'a>,
    end: usize,
}

impl<'a> Chunks<'a> {
    #[inline]
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: TlvCursor::new(bytes), end: COMMON_HEADER_LEN + bytes.len() }
    }

    /// The chunks in `bytes`, such as those of a protected packet. Offsets are as if a common header came before.
    #[inline]
    #[must_use]
    pub const fn from_wire(bytes: &'a [u8]) -> Self {
        Self::new(bytes)
    }

    /// Where the next chunk starts, in bytes from the start of the packet.
    #[inline]
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.end - self.cursor.rest().len()
    }

    /// The bytes of the packet not walked yet, padding included: what an AUTH chunk just read covers (RFC 4895 §5.1).
    #[inline]
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.cursor.rest()
    }

    /// The next chunk without looking into it.
    ///
    /// # Errors
    /// [`ChunkError`] of kind [`ChunkErrorKind::BadLength`] if its length is unusable; there is no next one then.
    #[inline]
    pub fn next_raw(&mut self) -> Option<Result<RawChunk<'a>, ChunkError<'a>>> {
        let offset = self.offset();
        Some(match self.cursor.advance()? {
            Ok(bytes) => Ok(RawChunk { bytes, offset }),
            Err(BadLength(raw)) => Err(ChunkError {
                kind: ChunkErrorKind::BadLength,
                chunk_type: raw.first().copied().unwrap_or_default(),
                raw,
            }),
        })
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, ChunkError<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_raw()?.and_then(|raw| raw.decode()))
    }
}

impl core::iter::FusedIterator for Chunks<'_> {}

/// A chunk of usable length, not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawChunk<'a> {
    // At least TLV_HEADER_LEN bytes: only `Chunks` makes these.
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> RawChunk<'a> {
    /// The type number.
    #[inline]
    #[must_use]
    pub fn chunk_type(&self) -> u8 {
        self.bytes.first().copied().unwrap_or_default()
    }

    /// The flags.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> u8 {
        self.bytes.get(1).copied().unwrap_or_default()
    }

    /// The chunk, header included and padding excluded: what an ERROR chunk quotes (RFC 9260 §3.3.10.6).
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The chunk without its header.
    #[inline]
    #[must_use]
    pub fn value(&self) -> &'a [u8] {
        self.bytes.get(TLV_HEADER_LEN..).unwrap_or_default()
    }

    /// Where the chunk starts, in bytes from the start of the packet.
    #[inline]
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Where the chunk and its padding end, in bytes from the start of the packet.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> usize {
        self.offset + padded(self.bytes.len())
    }

    /// Reads the chunk.
    ///
    /// # Errors
    /// [`ChunkError`] if the body is malformed.
    #[inline]
    pub fn decode(&self) -> Result<Chunk<'a>, ChunkError<'a>> {
        Chunk::decode(self).map_err(|kind| ChunkError {
            kind,
            chunk_type: self.chunk_type(),
            raw: self.bytes,
        })
    }

    /// The value, if it is exactly `N` bytes long.
    pub(crate) fn exactly<const N: usize>(&self) -> Result<[u8; N], ChunkErrorKind> {
        <[u8; N]>::try_from(self.value()).map_err(|_| ChunkErrorKind::WrongLength)
    }

    /// The first `N` bytes of the value and the rest of it.
    pub(crate) fn split<const N: usize>(&self) -> Result<(&'a [u8; N], &'a [u8]), ChunkErrorKind> {
        self.value().split_first_chunk::<N>().ok_or(ChunkErrorKind::TooShort)
    }
}

/// A chunk that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkError<'a> {
    /// What is wrong.
    pub kind: ChunkErrorKind,
    /// The type number it claims.
    pub chunk_type: u8,
    /// Its bytes without padding; with an unusable length, everything from its start to the end of the packet.
    pub raw: &'a [u8],
}

/// What is wrong with a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkErrorKind {
    /// The length field is below four or points beyond the packet. The walk ends here.
    BadLength,
    /// Shorter than the fixed fields of its type.
    TooShort,
    /// Not the one length its type has.
    WrongLength,
    /// The number of entries it announces, or their size, does not match its length.
    CountMismatch,
    /// The parameter that this type must start with is missing or malformed.
    MissingParameter,
    /// An error cause has an unusable length.
    BadCause,
}

impl fmt::Display for ChunkErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadLength => "unusable length field",
            Self::TooShort => "shorter than its fixed fields",
            Self::WrongLength => "wrong length for its type",
            Self::CountMismatch => "entries do not match the length",
            Self::MissingParameter => "mandatory parameter missing or malformed",
            Self::BadCause => "error cause with an unusable length",
        })
    }
}

impl fmt::Display for ChunkError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk of type {}: {}", self.chunk_type, self.kind)
    }
}

impl core::error::Error for ChunkError<'_> {}

#[cfg(test)]
#[path = "chunks_tests.rs"]
mod tests;
