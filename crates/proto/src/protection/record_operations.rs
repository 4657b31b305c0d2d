//! Records that are genuine, changed, made up, or sealed by a peer that puts anything in them, driven by bytes: the body of a fuzz target and of a test.

use whimbrel_wire::draft::Dtls;
use whimbrel_wire::{COMMON_HEADER_LEN, ChecksumMode, CommonHeader, Packet, PacketWriter};

use super::exchange::RecordCipher;
use super::record::{self, BEFORE};
use super::testing::Toy;
use crate::script::Script;

const CIPHER: Toy = Toy(0x5a17);

/// The TLS content type that a record must have (chunk draft §5.2).
const APPLICATION_DATA: u8 = 23;

/// Where the flags of a record are in its chunk.
const FLAGS: usize = 5;

/// # Panics
/// If a genuine record is not read as it was written, if a changed one is, or if anything else comes out than what a record holds.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, 4096);
    while !script.is_empty() {
        let number = u64::from(script.u32()) << script.below(33);
        match script.below(4) {
            0 => made_up(&mut script, number),
            1 => anything_sealed(&mut script, number),
            _ => genuine(&mut script, number),
        }
    }
}

/// Whatever follows a common header. Nothing panics; that nobody without the keys makes a record which opens is the cipher's part, and this one is a toy.
fn made_up(script: &mut Script<'_>, number: u64) {
    let count = script.below(200);
    let packet = [&[0; COMMON_HEADER_LEN][..], script.bytes(count)].concat();
    let Ok(packet) = Packet::parse(&packet) else { return };
    let mut chunks = packet.chunks();
    while let Some(Ok(raw)) = chunks.next_raw() {
        if let Some(dtls) = Dtls::read(&raw) {
            record::low_number(&dtls, &CIPHER);
            record::open(&dtls, &CIPHER, number);
        }
    }
}

/// A peer with the keys may seal what is no content, and pad it as it likes (RFC 9147 §4).
fn anything_sealed(script: &mut Script<'_>, number: u64) {
    let count = script.below(100);
    let mut content = script.bytes(count).to_vec();
    if script.one_in(2) {
        content.push(APPLICATION_DATA);
    }
    content.resize(content.len() + script.below(20), 0);
    let unpadded = content.iter().rposition(|&byte| byte != 0);
    let expected =
        unpadded.filter(|&last| content[last] == APPLICATION_DATA).map(|last| content[..last].to_vec());
    let epoch = script.byte() & 3;
    let tag = CIPHER.seal(number, &Dtls::record_header(epoch, number as u16), &mut content);
    content.extend_from_slice(&tag);
    let sealed = Dtls { restart: false, epoch, number: [0, 0], ciphertext: &content };
    assert_eq!(record::open(&sealed, &CIPHER, number), expected);
}

/// What one end seals the other one opens; not if a bit has changed on the way, and not as another record.
fn genuine(script: &mut Script<'_>, number: u64) {
    let count = 4 * script.below(60);
    let mut content = script.bytes(count).to_vec();
    content.resize(count, 0x5a);
    let mut bytes = Vec::new();
    let mut writer = PacketWriter::new(&mut bytes, CommonHeader::default(), 2000);
    writer.append(&[0; BEFORE]);
    writer.append(&content);
    record::seal(&mut writer, &CIPHER, u64::from(script.byte()), number);
    writer.finish(ChecksumMode::Crc32c);
    let open = |bytes: &[u8], number| {
        let packet = Packet::parse(bytes).ok()?;
        let raw = packet.chunks().next_raw()?.ok()?;
        let dtls = Dtls::read(&raw)?;
        let low = record::low_number(&dtls, &CIPHER)?;
        Some((low, record::open(&dtls, &CIPHER, number)?))
    };
    assert_eq!(open(&bytes, number), Some((number as u16, content)), "as it was written");
    let another = number ^ 1 << script.below(64);
    assert_eq!(open(&bytes, another), None, "another record");
    // The flags of the record, or its ciphertext and tag. The number is given here, and what stands before is not authenticated (chunk draft §5.2).
    let first = COMMON_HEADER_LEN + BEFORE;
    let at = first + usize::from(script.u16()) % (bytes.len() - 3 - first);
    let at = if script.one_in(16) { COMMON_HEADER_LEN + FLAGS } else { at };
    bytes[at] ^= 1 << script.below(8);
    assert_eq!(open(&bytes, number), None, "changed on the way");
}

#[cfg(test)]
#[path = "record_operations_tests.rs"]
mod tests;
