//! The fields of messages, one after the other.

use bytes::{BufMut, BytesMut};

use super::protocol::Hash;

/// Longest explanatory text, bytes.
pub(super) const MAX_TEXT: usize = 512;
/// What a greeting begins with.
pub(super) const MAGIC: &[u8; 4] = b"WHFT";

/// A message that breaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

pub(super) fn put_id_and_number(out: &mut BytesMut, kind: u8, id: u32, number: u64) {
    out.put_u8(kind);
    out.put_u32(id);
    out.put_u64(number);
}

pub(super) fn put_text(out: &mut BytesMut, text: &str) {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.put_u16(end as u16);
    out.put_slice(&text.as_bytes()[..end]);
}

/// Reads a message from its front; every read may find it too short.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (head, tail) = self.0.split_at_checked(length).ok_or(Malformed("truncated message"))?;
        self.0 = tail;
        Ok(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, tail) = self.0.split_first_chunk().ok_or(Malformed("truncated message"))?;
        self.0 = tail;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(super) fn hash(&mut self) -> Result<Hash, Malformed> {
        self.array()
    }

    pub(super) fn magic(&mut self) -> Result<(), Malformed> {
        if self.take(4)? == MAGIC { Ok(()) } else { Err(Malformed("not a Whimbrel file transfer")) }
    }

    pub(super) fn text(&mut self) -> Result<String, Malformed> {
        let length = usize::from(self.u16()?);
        if length > MAX_TEXT {
            return Err(Malformed("text too long"));
        }
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}
