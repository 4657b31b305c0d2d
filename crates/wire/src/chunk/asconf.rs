//! ASCONF (RFC 5061 §4.1.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0xC1  |  Chunk Flags  |             Length            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Sequence Number                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Address Parameter                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      ASCONF Parameter #1                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                              ....                             /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      ASCONF Parameter #N                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use core::net::IpAddr;

use crate::chunk::{ChunkErrorKind, RawChunk, chunk_type};
use crate::emit::{self, EmitChunk};
use crate::parameter::{Parameter, Parameters};
use crate::tlv;

const FIXED_LEN: usize = 4;

/// Asks to add or delete addresses of the association or to change the primary path.
///
/// RFC 5061 §4.1.1 wants it authenticated by an [`Auth`](crate::Auth) chunk before it in the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asconf<'a> {
    /// Sequence number: which request this is.
    pub sequence_number: u32,
    /// An address of the sender that the receiver knows already, or the unspecified address.
    pub address: IpAddr,
    /// The requests.
    pub parameters: Parameters<'a>,
}

impl<'a> Asconf<'a> {
    pub(super) fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        let (&sequence_number, rest) = raw.split::<FIXED_LEN>()?;
        let mut parameters = Parameters::from_wire(rest);
        let address = match parameters.next() {
            Some(Ok(Parameter::Ipv4Address(address))) => IpAddr::V4(address),
            Some(Ok(Parameter::Ipv6Address(address))) => IpAddr::V6(address),
            _ => return Err(ChunkErrorKind::MissingParameter),
        };
        Ok(Self { sequence_number: u32::from_be_bytes(sequence_number), address, parameters })
    }
}

/// The fixed fields and the address parameter, which is padded by itself: 8 or 20 bytes.
fn head(sequence_number: u32, address: IpAddr) -> Vec<u8> {
    let mut head = sequence_number.to_be_bytes().to_vec();
    tlv::emit_item(&Parameter::from(address), &mut head);
    head
}

fn head_len(address: IpAddr) -> usize {
    FIXED_LEN + tlv::item_len(&Parameter::from(address))
}

impl EmitChunk for Asconf<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(head_len(self.address), self.parameters.as_bytes().len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let head = head(self.sequence_number, self.address);
        emit::chunk(out, chunk_type::ASCONF, 0, &head, self.parameters.as_bytes());
    }
}

/// An [`Asconf`] to send.
#[derive(Clone, Copy, Debug)]
pub struct AsconfBuilder<'a> {
    /// See [`Asconf::sequence_number`].
    pub sequence_number: u32,
    /// See [`Asconf::address`].
    pub address: IpAddr,
    /// The requests.
    pub parameters: &'a [Parameter<'a>],
}

impl EmitChunk for AsconfBuilder<'_> {
    fn wire_len(&self) -> usize {
        emit::chunk_len(head_len(self.address), tlv::list_len(self.parameters))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let head = head(self.sequence_number, self.address);
        emit::chunk_with_list(out, chunk_type::ASCONF, 0, &head, self.parameters);
    }
}

#[cfg(test)]
#[path = "asconf_tests.rs"]
mod tests;
