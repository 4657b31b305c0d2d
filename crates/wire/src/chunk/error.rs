//! ERROR (RFC 9260 §3.3.10).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 9   |  Chunk Flags  |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                    one or more Error Causes                   /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::cause::{Cause, Causes};
use crate::chunk::{RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::tlv;

/// Reports errors that need not end the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorChunk<'a> {
    /// The error causes (RFC 9260 §3.3.10).
    pub causes: Causes<'a>,
}

impl<'a> ErrorChunk<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Self {
        Self { causes: Causes::from_wire(raw.value()) }
    }
}

impl EmitChunk for ErrorChunk<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, self.causes.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::ERROR, 0, &[], self.causes.as_bytes());
    }
}

/// An [`ErrorChunk`] to send.
#[derive(Clone, Copy, Debug)]
pub struct ErrorBuilder<'a> {
    /// The error causes (RFC 9260 §3.3.10).
    pub causes: &'a [Cause<'a>],
}

impl EmitChunk for ErrorBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, tlv::list_len(self.causes))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk_with_list(out, chunk_type::ERROR, 0, &[], self.causes);
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
