//! CRC32c over a packet (RFC 9260 §6.8, appendix A) and the exception of RFC 9653.

use crc_fast::{CrcAlgorithm, Digest};

use crate::packet::{COMMON_HEADER_LEN, Packet};

/// Where the checksum field lies in the common header.
pub(crate) const CHECKSUM_AT: usize = 8;

/// What a packet's checksum field is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ChecksumMode {
    /// The CRC32c of the packet.
    #[default]
    Crc32c,
    /// Zero, where the peer said it accepts that (RFC 9653 §5.2). A packet that carries a chunk for which RFC 9653
    /// demands a correct checksum still gets its CRC32c.
    Zero,
}

/// The CRC32c of `packet`, whose checksum field must hold zero.
#[inline]
pub(crate) fn of_zeroed(packet: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(packet)
}

/// The CRC32c of a packet as if its checksum field held zero. No copy of the packet is made.
#[inline]
pub(crate) fn of_received(header: &[u8; COMMON_HEADER_LEN], chunks: &[u8]) -> u32 {
    let mut zeroed = *header;
    zeroed[CHECKSUM_AT..].fill(0);
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(&zeroed);
    digest.update(chunks);
    digest.finalize() as u32
}

/// Whether RFC 9653 §5.2 (rules 1a, 2 and 3) forbids a zero checksum for what this packet carries.
pub(crate) fn must_be_correct(packet: &[u8]) -> bool {
    use crate::chunk::chunk_type::{ASCONF, COOKIE_ECHO, INIT};
    let Ok(packet) = Packet::parse(packet) else { return true };
    let mut chunks = packet.chunks();
    core::iter::from_fn(|| chunks.next_raw()).any(|raw| {
        raw.is_err() || raw.is_ok_and(|raw| matches!(raw.chunk_type(), INIT | COOKIE_ECHO | ASCONF))
    })
}

#[cfg(test)]
#[path = "checksum_tests.rs"]
mod tests;
