//! A received packet: the common header and what follows it (RFC 9260 §3, §3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |      Source Port Number       |    Destination Port Number    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Verification Tag                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                           Checksum                            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use core::fmt;

use crate::checksum;
use crate::chunk::Chunks;

/// Bytes of the common header.
pub const COMMON_HEADER_LEN: usize = 12;

/// The common header without its checksum, which is only known once the packet is complete (RFC 9260 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CommonHeader {
    /// The sender's SCTP port.
    pub source_port: u16,
    /// The receiver's SCTP port.
    pub destination_port: u16,
    /// The tag the receiver chose for this association; zero in a packet that carries an INIT chunk.
    pub verification_tag: u32,
}

impl CommonHeader {
    /// The header as sent, with zero in the checksum field.
    pub(crate) fn to_bytes(self) -> [u8; COMMON_HEADER_LEN] {
        let [s0, s1] = self.source_port.to_be_bytes();
        let [d0, d1] = self.destination_port.to_be_bytes();
        let [t0, t1, t2, t3] = self.verification_tag.to_be_bytes();
        [s0, s1, d0, d1, t0, t1, t2, t3, 0, 0, 0, 0]
    }
}

/// Why bytes are not an SCTP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParseError {
    /// Fewer bytes than the common header has.
    TooShort,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "shorter than the SCTP common header",
        })
    }
}

impl core::error::Error for ParseError {}

/// A received packet. Borrowed; nothing of it was copied or verified except its length.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    header: &'a [u8; COMMON_HEADER_LEN],
    chunks: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Splits `bytes` into header and chunks. Verifies neither the checksum nor any chunk.
    ///
    /// # Errors
    /// [`ParseError`] if there is no whole common header.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let (header, chunks) = bytes.split_first_chunk::<COMMON_HEADER_LEN>().ok_or(ParseError::TooShort)?;
        // Chunks are whole words (RFC 9260 §3.2); what is left over is a partial one, which is dropped (§6.10).
        let chunks = chunks.get(..chunks.len() & !3).unwrap_or_default();
        Ok(Self { header, chunks, bytes })
    }

    /// Ports and verification tag.
    #[inline]
    #[must_use]
    pub fn header(&self) -> CommonHeader {
        let [s0, s1, d0, d1, t0, t1, t2, t3, ..] = *self.header;
        CommonHeader {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            verification_tag: u32::from_be_bytes([t0, t1, t2, t3]),
        }
    }

    /// The checksum field, as a CRC32c value (the field is little-endian on the wire, RFC 9260 appendix A).
    #[inline]
    #[must_use]
    pub fn checksum(&self) -> u32 {
        let [.., c0, c1, c2, c3] = *self.header;
        u32::from_le_bytes([c0, c1, c2, c3])
    }

    /// Whether the checksum field holds the CRC32c of the packet (RFC 9260 §6.8).
    #[inline]
    #[must_use]
    pub fn checksum_is_valid(&self) -> bool {
        self.checksum() == checksum::of_received(self.header, self.chunks)
    }

    /// Whether the packet may be processed: its CRC32c is right, or the field is zero and this endpoint told the
    /// peer it accepts that (RFC 9653 §5.3). The latter costs no computation.
    #[inline]
    #[must_use]
    pub fn checksum_is_acceptable(&self, zero_accepted: bool) -> bool {
        (zero_accepted && self.checksum() == 0) || self.checksum_is_valid()
    }

    /// The chunks in order.
    #[inline]
    #[must_use]
    pub fn chunks(&self) -> Chunks<'a> {
        Chunks::new(self.chunks)
    }

    /// The whole packet.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Debug for Packet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("header", &self.header())
            .field("checksum", &format_args!("{:#010x}", self.checksum()))
            .field("chunks", &self.chunks().collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
