//! INIT (RFC 9260 §3.3.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 1    |  Chunk Flags  |      Chunk Length             |
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

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::parameter::{Parameter, Parameters};
use crate::serial::Tsn;
use crate::tlv;

/// Bytes of the fixed fields of INIT and INIT ACK.
pub(super) const FIXED_LEN: usize = 16;

/// The fixed fields, which INIT and INIT ACK have in common.
#[derive(Clone, Copy)]
pub(super) struct Fixed {
    pub(super) initiate_tag: u32,
    pub(super) a_rwnd: u32,
    pub(super) outbound_streams: u16,
    pub(super) inbound_streams: u16,
    pub(super) initial_tsn: Tsn,
}

impl Fixed {
    pub(super) fn from_bytes(bytes: &[u8; FIXED_LEN]) -> Self {
        let [g0, g1, g2, g3, w0, w1, w2, w3, o0, o1, i0, i1, t0, t1, t2, t3] = *bytes;
        Self {
            initiate_tag: u32::from_be_bytes([g0, g1, g2, g3]),
            a_rwnd: u32::from_be_bytes([w0, w1, w2, w3]),
            outbound_streams: u16::from_be_bytes([o0, o1]),
            inbound_streams: u16::from_be_bytes([i0, i1]),
            initial_tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; FIXED_LEN] {
        let mut bytes = [0; FIXED_LEN];
        bytes[..4].copy_from_slice(&self.initiate_tag.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.a_rwnd.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.outbound_streams.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.inbound_streams.to_be_bytes());
        bytes[12..].copy_from_slice(&self.initial_tsn.0.to_be_bytes());
        bytes
    }
}

/// Asks for an association. Zero or too small values are well-formed here; RFC 9260 §3.3.2 says how the receiver
/// answers each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init<'a> {
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

impl<'a> Init<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (fixed, parameters) = raw.split::<FIXED_LEN>()?;
        let Fixed { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn } =
            Fixed::from_bytes(fixed);
        let parameters = Parameters::from_wire(parameters);
        Ok(Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters })
    }
}

impl EmitChunk for Init<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, self.parameters.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters } = *self;
        let fixed = Fixed { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn };
        emit::chunk(out, chunk_type::INIT, 0, &fixed.to_bytes(), parameters.as_bytes());
    }
}

/// An [`Init`] to send.
#[derive(Clone, Copy, Debug)]
pub struct InitBuilder<'a> {
    /// See [`Init::initiate_tag`].
    pub initiate_tag: u32,
    /// See [`Init::a_rwnd`].
    pub a_rwnd: u32,
    /// See [`Init::outbound_streams`].
    pub outbound_streams: u16,
    /// See [`Init::inbound_streams`].
    pub inbound_streams: u16,
    /// See [`Init::initial_tsn`].
    pub initial_tsn: Tsn,
    /// Optional parameters.
    pub parameters: &'a [Parameter<'a>],
}

impl EmitChunk for InitBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(FIXED_LEN, tlv::list_len(self.parameters))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let Self { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters } = *self;
        let fixed = Fixed { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn };
        emit::chunk_with_list(out, chunk_type::INIT, 0, &fixed.to_bytes(), parameters);
    }
}

#[cfg(test)]
#[path = "init_tests.rs"]
mod tests;
