//! Writing chunks.

use crate::tlv::{self, EmitTlv};

/// A chunk that can be appended to a packet.
///
/// Every chunk a reader can return implements this, and so do the builders for chunks that carry lists.
pub trait EmitChunk {
    /// Bytes the chunk takes in a packet, padding included: always a multiple of four.
    fn wire_len(&self) -> usize;

    /// Appends exactly [`wire_len`](Self::wire_len) bytes.
    ///
    /// A chunk longer than its 16-bit length field can say is written with the largest length and cannot be read
    /// back; [`PacketWriter::push`](crate::PacketWriter::push) refuses such a chunk before it gets here.
    fn emit(&self, out: &mut Vec<u8>);
}

impl<T: EmitChunk + ?Sized> EmitChunk for &T {
    fn wire_len(&self) -> usize {
        (**self).wire_len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        (**self).emit(out);
    }
}

/// How many zero bytes follow `len` bytes so that the next item starts on a word.
#[inline]
pub(crate) const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}

/// `len` and its padding.
#[inline]
pub(crate) const fn padded(len: usize) -> usize {
    len + padding(len)
}

/// Appends the padding that follows an item of `len` bytes.
#[inline]
pub(crate) fn pad_to_word(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&[0; 3][..padding(len)]);
}

/// A length field that saturates, see [`EmitChunk::emit`].
#[inline]
pub(crate) fn length_field(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}

/// The first four bytes of a chunk of `len` bytes.
#[inline]
pub(crate) fn chunk_header(chunk_type: u8, flags: u8, len: usize) -> [u8; 4] {
    let [high, low] = length_field(len);
    [chunk_type, flags, high, low]
}

/// Bytes of a chunk with fixed fields `fixed` and `variable` more bytes, padding included.
pub(crate) const fn chunk_len(fixed: usize, variable: usize) -> usize {
    padded(tlv::TLV_HEADER_LEN + fixed + variable)
}

/// Appends a chunk made of fixed fields and bytes that follow them.
pub(crate) fn chunk(out: &mut Vec<u8>, chunk_type: u8, flags: u8, fixed: &[u8], variable: &[u8]) {
    let length = tlv::TLV_HEADER_LEN + fixed.len() + variable.len();
    out.reserve(padded(length));
    out.extend_from_slice(&chunk_header(chunk_type, flags, length));
    out.extend_from_slice(fixed);
    out.extend_from_slice(variable);
    pad_to_word(out, length);
}

/// Appends a chunk made of fixed fields and a list of parameters or causes.
pub(crate) fn chunk_with_list<T: EmitTlv>(
    out: &mut Vec<u8>,
    chunk_type: u8,
    flags: u8,
    fixed: &[u8],
    items: &[T],
) {
    let length = tlv::TLV_HEADER_LEN + fixed.len() + tlv::list_len(items);
    out.reserve(padded(length));
    out.extend_from_slice(&chunk_header(chunk_type, flags, length));
    out.extend_from_slice(fixed);
    tlv::emit_list(items, out);
}
