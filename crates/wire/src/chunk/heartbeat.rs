//! HEARTBEAT (RFC 9260 §3.3.5).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 4   |  Chunk Flags  |        Heartbeat Length       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /          Heartbeat Information TLV (Variable-Length)          /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::parameter::{Parameter, Parameters};
use crate::tlv;

/// Asks whether a path still works. The answer returns `info` unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat<'a> {
    /// Sender-specific Heartbeat Info: opaque to everyone but the sender of the HEARTBEAT.
    pub info: &'a [u8],
}

impl<'a> Heartbeat<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        Ok(Self { info: decode_info(raw)? })
    }
}

impl EmitChunk for Heartbeat<'_> {
    fn wire_len(&self) -> usize {
        info_len(self.info)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit_info(out, chunk_type::HEARTBEAT, self.info);
    }
}

/// The value of the Heartbeat Info parameter, which the value of HEARTBEAT and HEARTBEAT ACK consists of
/// (RFC 9260 §3.3.5, tables 9 and 10). Parameters after it have no meaning and are ignored.
pub(super) fn decode_info<'a>(raw: &RawChunk<'a>) -> Result<&'a [u8], ChunkErrorKind> {
    match Parameters::from_wire(raw.value()).next() {
        Some(Ok(Parameter::HeartbeatInfo(info))) => Ok(info),
        _ => Err(ChunkErrorKind::MissingParameter),
    }
}

pub(super) fn info_len(info: &[u8]) -> usize {
    emit::chunk_len(0, tlv::list_len(&[Parameter::HeartbeatInfo(info)]))
}

pub(super) fn emit_info(out: &mut Vec<u8>, chunk_type: u8, info: &[u8]) {
    emit::chunk_with_list(out, chunk_type, 0, &[], &[Parameter::HeartbeatInfo(info)]);
}

#[cfg(test)]
#[path = "heartbeat_tests.rs"]
mod tests;
