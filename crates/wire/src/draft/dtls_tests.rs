use super::*;
use crate::testing::hex;
use crate::{CommonHeader, PacketWriter, Unknown};

/// A packet whose only chunk has these bytes, header included.
fn packet_of(chunk_type: u8, flags: u8, value: &[u8]) -> Vec<u8> {
    let mut raw = vec![chunk_type, flags, 0, 4 + value.len() as u8];
    raw.extend_from_slice(value);
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, CommonHeader::default(), 1000);
    assert!(writer.push(&Unknown { chunk_type, flags, raw: &raw }));
    writer.finish(crate::ChecksumMode::Crc32c);
    out
}

fn read(chunk_type: u8, flags: u8, value: &[u8], check: impl Fn(Option<Dtls<'_>>)) {
    let packet = packet_of(chunk_type, flags, value);
    check(Dtls::read(&crate::testing::raw_chunks(&packet)[0]));
}

// No stack at hand sends these; the bytes follow figures 3 and 5 of the chunk draft.
#[test]
fn reads_what_the_figure_has() {
    let value = hex("00 2b 1234 aabbccdd");
    read(CHUNK_DTLS, 0, &value, |dtls| {
        let expected = Dtls { restart: false, epoch: 3, number: [0x12, 0x34], ciphertext: &hex("aabbccdd") };
        assert_eq!(dtls, Some(expected));
    });
    // Padding is ignored whatever it holds, and so are reserved flags.
    let value = hex("ff 28 1234");
    read(CHUNK_DTLS, 0xfe, &value, |dtls| {
        let expected = Dtls { restart: false, epoch: 0, number: [0x12, 0x34], ciphertext: &[] };
        assert_eq!(dtls, Some(expected));
    });
    read(CHUNK_DTLS, 1, &hex("00 29 0000 aa"), |dtls| assert!(dtls.is_some_and(|dtls| dtls.restart)));
}

#[test]
fn refuses_other_records() {
    // With a length, a Connection ID, a short number, and what is no unified header.
    for first in ["2f", "3b", "23", "6b", "16"] {
        let value = hex(&format!("00 {first} 1234 aabbccdd"));
        read(CHUNK_DTLS, 0, &value, |dtls| assert_eq!(dtls, None, "{first}"));
    }
    read(CHUNK_DTLS, 0, &hex("00 2b 12"), |dtls| assert_eq!(dtls, None));
    read(0x42, 0, &hex("00 2b 1234 aabbccdd"), |dtls| assert_eq!(dtls, None));
}

#[test]
fn headers_are_what_is_read() {
    assert_eq!(Dtls::header(7, 0x0102, 21), hex("41 00 001d 00 2b 0102")[..]);
    assert_eq!(Dtls::record_header(4, 0xfffe), hex("28 fffe")[..]);
}
