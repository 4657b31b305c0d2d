//! The one rule for where a chunk, a parameter or a cause ends.
//!
//! All three put a 16-bit length at offset 2 that counts the header and the value but not the padding
//! (RFC 9260 §3.2, §3.2.1, §3.3.10), so one cursor serves them all.

use crate::emit::{pad_to_word, padded};

/// Bytes before the value: type and length of a parameter or cause; type, flags and length of a chunk.
pub(crate) const TLV_HEADER_LEN: usize = 4;

/// Walks items of type, length, value and padding.
///
/// The padding after the last item may be missing: a chunk's length does not count the padding of its last
/// parameter, and "a robust implementation is expected to accept the chunk whether or not the final padding has
/// been included in the Chunk Length" (RFC 9260 §3.2). Of a *packet* only whole words are walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TlvCursor<'a> {
    rest: &'a [u8],
}

/// An item whose length field is below four or points past the end; nothing after it can be located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadLength<'a>(pub(crate) &'a [u8]);

impl<'a> TlvCursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not walked yet.
    #[inline]
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next item, header included and padding excluded, so at least four bytes long.
    ///
    /// After an item whose length is unusable the walk is over.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<Result<&'a [u8], BadLength<'a>>> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = self.rest;
        let Some(&[_, _, high, low]) = rest.first_chunk::<TLV_HEADER_LEN>() else {
            return self.give_up();
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length < TLV_HEADER_LEN {
            return self.give_up();
        }
        let Some(item) = rest.get(..length) else {
            return self.give_up();
        };
        self.rest = rest.get(padded(length)..).unwrap_or_default();
        Some(Ok(item))
    }

    #[cold]
    fn give_up(&mut self) -> Option<Result<&'a [u8], BadLength<'a>>> {
        Some(Err(BadLength(core::mem::take(&mut self.rest))))
    }
}

/// A parameter or cause that can be written.
pub(crate) trait EmitTlv {
    /// The 16-bit type or code.
    fn code(&self) -> u16;
    /// Bytes of the value, without padding.
    fn value_len(&self) -> usize;
    /// Appends the value, without padding.
    fn emit_value(&self, out: &mut Vec<u8>);
}

/// Bytes of one item without its padding.
pub(crate) fn item_len(item: &impl EmitTlv) -> usize {
    TLV_HEADER_LEN + item.value_len()
}

/// Appends one item and its padding.
pub(crate) fn emit_item(item: &impl EmitTlv, out: &mut Vec<u8>) {
    let length = item_len(item);
    out.extend_from_slice(&item.code().to_be_bytes());
    out.extend_from_slice(&crate::emit::length_field(length));
    item.emit_value(out);
    pad_to_word(out, length);
}

/// Bytes of a list of items; the padding of the last is not counted, as a chunk's length wants it.
pub(crate) fn list_len<T: EmitTlv>(items: &[T]) -> usize {
    match items.split_last() {
        Some((last, others)) => {
            others.iter().map(|item| padded(item_len(item))).sum::<usize>() + item_len(last)
        }
        None => 0,
    }
}

/// Appends a list of items, the padding of the last included.
pub(crate) fn emit_list<T: EmitTlv>(items: &[T], out: &mut Vec<u8>) {
    for item in items {
        emit_item(item, out);
    }
}

#[cfg(test)]
#[path = "tlv_tests.rs"]
mod tests;
