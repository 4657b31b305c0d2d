//! ASCONF-ACK (RFC 5061 §4.1.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0x80  |  Chunk Flags  |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Sequence Number                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  ASCONF Parameter Response #1                 |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                              ....                             /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  ASCONF Parameter Response #N                 |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::parameter::{Parameter, Parameters};
use crate::tlv;

const FIXED_LEN: usize = 4;

/// Answers an ASCONF. A request without a response of its own succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsconfAck<'a> {
    /// The sequence number of the ASCONF answered.
    pub sequence_number: u32,
    /// The responses.
    pub parameters: Parameters<'a>,
}

impl<'a> AsconfAck<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (&sequence_number, parameters) = raw.split::<FIXED_LEN>()?;
        Ok(Self {
            sequence_number: u32::from_be_bytes(sequence_number),
            parameters: Parameters::from_wire(parameters),
        })
    }
}

impl EmitChunk for AsconfAck<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.parameters.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let fixed = self.sequence_number.to_be_bytes();
        emit::chunk(out, chunk_type::ASCONF_ACK, 0, &fixed, self.parameters.as_bytes());
    }
}

/// An [`AsconfAck`] to send.
#[derive(Clone, Copy, Debug)]
pub struct AsconfAckBuilder<'a> {
    /// See [`AsconfAck::sequence_number`].
    pub sequence_number: u32,
    /// The responses.
    pub parameters: &'a [Parameter<'a>],
}

impl EmitChunk for AsconfAckBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, tlv::list_len(self.parameters))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let fixed = self.sequence_number.to_be_bytes();
        emit::chunk_with_list(out, chunk_type::ASCONF_ACK, 0, &fixed, self.parameters);
    }
}

#[cfg(test)]
#[path = "asconf_ack_tests.rs"]
mod tests;
