//! Checksums.

/// Checksums (RFC 9653).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChecksumPolicy {
    /// CRC32c on every packet.
    Crc32c,
    /// Declare and use the zero checksum when both sides name this error detection method (EDMID). Only sound when
    /// the lower layer protects integrity, as DTLS does (EDMID 1).
    ZeroAcceptable {
        /// Error Detection Method Identifier.
        edmid: u32,
    },
}
