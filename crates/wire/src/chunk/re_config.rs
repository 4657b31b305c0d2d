//! RE-CONFIG (RFC 6525 §3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 130  |  Chunk Flags  |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                   Re-configuration Parameter                  /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /             Re-configuration Parameter (optional)             /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::parameter::{Parameter, Parameters};
use crate::tlv;

/// Asks to reset or add streams, or answers such a request. One or two parameters; which pairs are allowed is
/// RFC 6525 §3.1 and is judged by the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReConfig<'a> {
    /// The requests and responses.
    pub parameters: Parameters<'a>,
}

impl<'a> ReConfig<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Self {
        Self { parameters: Parameters::from_wire(raw.value()) }
    }
}

impl EmitChunk for ReConfig<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, self.parameters.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk(out, chunk_type::RE_CONFIG, 0, &[], self.parameters.as_bytes());
    }
}

/// A [`ReConfig`] to send.
#[derive(Clone, Copy, Debug)]
pub struct ReConfigBuilder<'a> {
    /// The requests and responses.
    pub parameters: &'a [Parameter<'a>],
}

impl EmitChunk for ReConfigBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(0, tlv::list_len(self.parameters))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit::chunk_with_list(out, chunk_type::RE_CONFIG, 0, &[], self.parameters);
    }
}

#[cfg(test)]
#[path = "re_config_tests.rs"]
mod tests;
