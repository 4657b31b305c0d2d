//! INIT ACK (RFC 9260 §3.3.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 2    |  Chunk Flags  |      Chunk Length             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                         Initiate Tag                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Number of Outbound Streams   |   Number of Inbound Streams   |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                          Initial TSN                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /              Optional/Variable-Length Parameters              /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use crate::chunk::init::{FIXED_LEN, Fixed, Init};
use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::parameter::{Parameter, Parameters};
use crate::serial::Tsn;
use crate::tlv;

/// Answers an INIT and carries the State Cookie (RFC 9260 §5.1.3) among its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitAck<'a> {
    /// The tag the sender wants to see in every packet it receives.
    pub initiate_tag: u32,
    /// Receive buffer the sender set aside, in bytes.
    pub a_rwnd: u32,
    /// Outbound streams the sender wishes for.
    pub outbound_streams: u16,
    /// Inbound streams the sender allows at most.
    pub inbound_streams: u16,
    /// The first TSN the sender will use.
    pub initial_tsn: Tsn,
    /// Optional parameters.
    pub parameters: Parameters<'a>,
}

impl<'a> InitAck<'a> {
    /// The same as an INIT, which has the same fields (RFC 9260 §3.3.3).
    pub const fn as_init(&self) -> Init<'a> {
        let Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters } = *self;
        Init { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters }
    }

    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (fixed, parameters) = raw.split::<FIXED_LEN>()?;
        let Fixed { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn } =
            Fixed::from_bytes(fixed);
        let parameters = Parameters::from_wire(parameters);
        Ok(Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters })
    }
}

impl EmitChunk for InitAck<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.parameters.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters } = *self;
        let fixed = Fixed { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn };
        emit::chunk(out, chunk_type::INIT_ACK, 0, &fixed.to_bytes(), parameters.as_bytes());
    }
}

/// An [`InitAck`] to send.
#[derive(Clone, Copy, Debug)]
pub struct InitAckBuilder<'a> {
    /// See [`InitAck::initiate_tag`].
    pub initiate_tag: u32,
    /// See [`InitAck::a_rwnd`].
    pub a_rwnd: u32,
    /// See [`InitAck::outbound_streams`].
    pub outbound_streams: u16,
    /// See [`InitAck::inbound_streams`].
    pub inbound_streams: u16,
    /// See [`InitAck::initial_tsn`].
    pub initial_tsn: Tsn,
    /// Optional parameters.
    pub parameters: &'a [Parameter<'a>],
}

impl EmitChunk for InitAckBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, tlv::list_len(self.parameters))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters } = *self;
        let fixed = Fixed { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn };
        emit::chunk_with_list(out, chunk_type::INIT_ACK, 0, &fixed.to_bytes(), parameters);
    }
}

#[cfg(test)]
#[path = "init_ack_tests.rs"]
mod tests;
