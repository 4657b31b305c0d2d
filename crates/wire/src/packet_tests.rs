use super::*;
use crate::testing::captured;

#[test]
fn the_common_header_reads_as_captured() {
    let bytes = captured("usrsctp_data");
    let packet = Packet::parse(&bytes).expect("a packet");
    let header = CommonHeader { source_port: 0xfd4c, destination_port: 7, verification_tag: 0xddc9_c306 };
    assert_eq!(packet.header(), header);
    assert_eq!(packet.header().to_bytes()[..8], bytes[..8]);
    assert_eq!(packet.checksum(), u32::from_le_bytes([0x86, 0x85, 0xf7, 0x4c]));
    assert_eq!(packet.bytes(), bytes);
    assert!(format!("{packet:?}").contains("Data"));
}

#[test]
fn a_packet_is_a_header_and_anything() {
    let bytes = captured("usrsctp_data");
    for end in 0..bytes.len() {
        let expected = if end < 12 { Err(ParseError::TooShort) } else { Ok(()) };
        assert_eq!(Packet::parse(&bytes[..end]).map(|_| ()), expected, "{end} bytes");
    }
    assert_eq!(Packet::parse(&bytes[..12]).expect("a header is enough").chunks().count(), 0);
}

/// RFC 9260 §6.10: a partial chunk is dropped, not what comes before it.
#[test]
fn stray_bytes_behind_the_last_chunk_are_dropped() {
    let whole = captured("usrsctp_data");
    for stray in 1..4 {
        let mut bytes = whole.clone();
        bytes.extend_from_slice(&[0; 3][..stray]);
        let packet = Packet::parse(&bytes).expect("a packet");
        let mut chunks = packet.chunks();
        assert!(matches!(chunks.next(), Some(Ok(crate::Chunk::Data(_)))));
        assert!(chunks.next().is_none());
    }
}
