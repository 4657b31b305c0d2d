//! Walking the causes of an ERROR or ABORT chunk.

use core::fmt;

use crate::cause::Cause;
use crate::parameter::{ParameterError, ParameterErrorKind};
use crate::tlv::{BadLength, TLV_HEADER_LEN, TlvCursor};

/// Error causes, in order. Malformed ones are treated as [`Parameters`](crate::Parameters) treats its own.
#[derive(Clone, Copy)]
pub struct Causes<'a>(TlvCursor<'a>);

impl<'a> Causes<'a> {
    /// No causes.
    pub const EMPTY: Self = Self(TlvCursor::new(&[]));

    /// The causes these bytes hold. The padding of the last one may be missing (RFC 9260 §3.2).
    #[must_use]
    pub const fn from_wire(bytes: &'a [u8]) -> Self {
        Self(TlvCursor::new(bytes))
    }

    /// Whether the end of each can be found.
    pub(crate) fn have_usable_lengths(&self) -> bool {
        let mut cursor = self.0;
        core::iter::from_fn(|| cursor.advance()).all(|item| item.is_ok())
    }

    /// The bytes not walked yet.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0.rest()
    }
}

impl<'a> Iterator for Causes<'a> {
    type Item = Result<Cause<'a>, ParameterError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.0.advance()?;
        let (Ok(bytes) | Err(BadLength(bytes))) = item;
        let parameter_type = bytes.first_chunk().map_or(0, |&code| u16::from_be_bytes(code));
        let decoded = match item {
            Ok(bytes) => Cause::decode(parameter_type, bytes.get(TLV_HEADER_LEN..).unwrap_or_default()),
            Err(_) => Err(ParameterErrorKind::BadLength),
        };
        Some(decoded.map_err(|kind| ParameterError { kind, parameter_type }))
    }
}

impl core::iter::FusedIterator for Causes<'_> {}

impl PartialEq for Causes<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Causes<'_> {}

impl fmt::Debug for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}
