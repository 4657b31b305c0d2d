//! A packet being written.

use crate::checksum::{self, CHECKSUM_AT, ChecksumMode};
use crate::emit::EmitChunk;
use crate::packet::{COMMON_HEADER_LEN, CommonHeader};

/// The longest packet: what an IP or UDP length field can say. It also keeps every length field inside the packet
/// within its 16 bits.
pub const MAX_PACKET_LEN: usize = 65_535;

/// Writes one packet at the end of a buffer that may already hold earlier ones.
///
/// Push chunks until one does not fit, then [`finish`](Self::finish). Dropping the writer leaves an unfinished packet
/// in the buffer; [`discard`](Self::discard) removes it.
#[derive(Debug)]
#[must_use = "a packet without its checksum is not valid: call finish or discard"]
pub struct PacketWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    limit: usize,
}

impl<'a> PacketWriter<'a> {
    /// Starts a packet of at most `limit` bytes (header included, capped at [`MAX_PACKET_LEN`]) at the end of `out`.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, header: CommonHeader, limit: usize) -> Self {
        let start = out.len();
        out.extend_from_slice(&header.to_bytes());
        Self { out, start, limit: limit.min(MAX_PACKET_LEN) }
    }

    /// Bytes written so far, header included.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len() - self.start
    }

    /// Bytes that still fit; the next chunk may be this long, padding included.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.limit.saturating_sub(self.len())
    }

    /// Whether no chunk was pushed yet.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == COMMON_HEADER_LEN
    }

    /// Appends a chunk; `false`, and nothing written, if it does not fit.
    #[inline]
    #[must_use = "a chunk that did not fit was not written"]
    pub fn push(&mut self, chunk: &impl EmitChunk) -> bool {
        let wire_len = chunk.wire_len();
        if wire_len > self.remaining() {
            return false;
        }
        let before = self.out.len();
        chunk.emit(self.out);
        debug_assert_eq!(self.out.len() - before, wire_len, "EmitChunk broke its promise");
        true
    }

    /// Inserts a chunk before the one that begins at `offset` (from the start of the packet); `false`, and nothing
    /// written, if it does not fit.
    ///
    /// # Panics
    /// If `offset` lies behind what was written.
    #[must_use = "a chunk that did not fit was not written"]
    pub fn insert(&mut self, offset: usize, chunk: &impl EmitChunk) -> bool {
        let before = self.len();
        if !self.push(chunk) {
            return false;
        }
        let added = self.len() - before;
        self.bytes_mut()[offset..].rotate_right(added);
        true
    }

    /// Appends bytes that are no chunk, with which a packet is wrapped as a whole. Its writer has kept room for them.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Removes what was written from `offset` (from the start of the packet) on, which must be a chunk's start.
    pub fn truncate(&mut self, offset: usize) {
        debug_assert!(offset >= COMMON_HEADER_LEN, "the header stays");
        self.out.truncate(self.start + offset);
    }

    /// The packet so far, its checksum field zero: what an HMAC is computed over and written into
    /// (RFC 4895 §6.2). Offsets are those a later [`Packet::bytes`](crate::Packet::bytes) has.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.out[self.start..]
    }

    /// Completes the packet: fills in its checksum.
    #[inline]
    pub fn finish(self, checksum: ChecksumMode) {
        let packet = &mut self.out[self.start..];
        if checksum == ChecksumMode::Zero && !checksum::must_be_correct(packet) {
            return;
        }
        let crc = checksum::of_zeroed(packet);
        packet[CHECKSUM_AT..COMMON_HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
    }

    /// Gives the packet up: the buffer is as it was before.
    pub fn discard(self) {
        self.out.truncate(self.start);
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
