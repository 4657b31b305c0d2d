//! ABORT (RFC 9260 §3.3.7).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 6    |  Reserved   |T|            Length             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                   zero or more Error Causes                   /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::cause::{Cause, Causes};
use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::tlv;

/// T bit of ABORT and SHUTDOWN COMPLETE.
pub(super) const TAG_REFLECTED: u8 = 0x01;

/// Ends the association at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort<'a> {
    /// T bit: the packet's verification tag is the reflected one (RFC 9260 §8.4, §8.5.1).
    pub tag_reflected: bool,
    /// The error causes (RFC 9260 §3.3.10).
    pub causes: Causes<'a>,
}

impl<'a> Abort<'a> {
    /// An ABORT whose causes cannot be told apart has a format error, and is to be discarded (RFC 9260 §3.3.7). What is
    /// inside a cause is for information only, and may be anything.
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let causes = Causes::from_wire(raw.value());
        if !causes.have_usable_lengths() {
            return Err(ChunkErrorKind::BadCause);
        }
        Ok(Self { tag_reflected: raw.flags() & TAG_REFLECTED != 0, causes })
    }
}

impl EmitChunk for Abort<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, self.causes.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(
            out,
            chunk_type::ABORT,
            u8::from(self.tag_reflected) * TAG_REFLECTED,
            &[],
            self.causes.as_bytes(),
        );
    }
}

/// An [`Abort`] to send.
#[derive(Clone, Copy, Debug)]
pub struct AbortBuilder<'a> {
    /// See [`Abort::tag_reflected`].
    pub tag_reflected: bool,
    /// The error causes (RFC 9260 §3.3.10).
    pub causes: &'a [Cause<'a>],
}

impl EmitChunk for AbortBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, tlv::list_len(self.causes))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk_with_list(
            out,
            chunk_type::ABORT,
            u8::from(self.tag_reflected) * TAG_REFLECTED,
            &[],
            self.causes,
        );
    }
}

#[cfg(test)]
#[path = "abort_tests.rs"]
mod tests;
