//! A protected packet: common header and one DTLS chunk, whose record holds the chunks (chunk draft §5.2, RFC 9147 §4).
//!
//! ```text
//!  0  common header                             12 bytes   in clear
//! 12  DTLS chunk header, pre-padding             5
//! 17  record header: flags, epoch, number        3         authenticated; the number is sent masked
//! 20  chunks                                    4k         encrypted
//!     content type (application_data), tag    1 + 16
//!     post-padding                               3
//! ```

use whimbrel_wire::draft::{DTLS_CHUNK_OVERHEAD, Dtls};
use whimbrel_wire::{COMMON_HEADER_LEN, PacketWriter};

use super::exchange::{RecordCipher, TAG_LEN};

/// Bytes before the first chunk, behind the common header.
pub(crate) const BEFORE: usize = DTLS_CHUNK_OVERHEAD;

/// Bytes behind the last chunk: content type, tag, post-padding.
pub(crate) const BEHIND: usize = 1 + TAG_LEN + POST_PADDING;

/// Bytes by which a packet is longer than in clear.
pub(crate) const OVERHEAD: usize = BEFORE + BEHIND;

const POST_PADDING: usize = 3;

/// The TLS content type of everything that is protected here (chunk draft §5.2).
const APPLICATION_DATA: u8 = 23;

/// Bytes of the ciphertext that the mask is made of (RFC 9147 §4.2.3).
const SAMPLE_LEN: usize = 16;

/// Encrypts what `packet` holds behind [`BEFORE`] free bytes and completes it, but for its checksum. The writer has kept [`BEHIND`] bytes.
pub(crate) fn seal(packet: &mut PacketWriter<'_>, cipher: &dyn RecordCipher, epoch: u64, number: u64) {
    const START: usize = COMMON_HEADER_LEN + BEFORE;
    packet.append(&[APPLICATION_DATA]);
    let (epoch, low) = (epoch as u8, number as u16);
    let tag = cipher.seal(number, &Dtls::record_header(epoch, low), &mut packet.bytes_mut()[START..]);
    packet.append(&tag);
    let (before, ciphertext) = packet.bytes_mut().split_at_mut(START);
    let header = Dtls::header(epoch, low, ciphertext.len());
    before[COMMON_HEADER_LEN..].copy_from_slice(&header);
    let sample = ciphertext.first_chunk::<SAMPLE_LEN>().expect("the tag alone is as long");
    let [m0, m1] = cipher.mask(sample);
    before[START - 2] ^= m0;
    before[START - 1] ^= m1;
    packet.append(&[0; POST_PADDING]);
}

/// The low bits of the number of a record, unmasked; `None` if the record is too short.
pub(crate) fn low_number(record: &Dtls<'_>, cipher: &dyn RecordCipher) -> Option<u16> {
    if record.ciphertext.len() < 1 + TAG_LEN {
        return None;
    }
    let [m0, m1] = cipher.mask(record.ciphertext.first_chunk::<SAMPLE_LEN>()?);
    Some(u16::from_be_bytes([record.number[0] ^ m0, record.number[1] ^ m1]))
}

/// The chunks in a record, if it is genuine and has this number. Padding behind the content type is removed (RFC 9147 §4).
pub(crate) fn open(record: &Dtls<'_>, cipher: &dyn RecordCipher, number: u64) -> Option<Vec<u8>> {
    let mut bytes = record.ciphertext.to_vec();
    if !cipher.open(number, &Dtls::record_header(record.epoch, number as u16), &mut bytes) {
        return None;
    }
    bytes.truncate(bytes.len() - TAG_LEN);
    let content_type = bytes.iter().rposition(|&byte| byte != 0)?;
    if bytes[content_type] != APPLICATION_DATA {
        return None;
    }
    bytes.truncate(content_type);
    Some(bytes)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
