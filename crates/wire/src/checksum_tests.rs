use crate::testing::{all_captured, hex};
use crate::{ChecksumMode, CommonHeader, InitBuilder, Packet, PacketWriter, Tsn};

/// RFC 9653 §3, figure 1: an INIT whose correct CRC32c is zero.
const ZERO_CRC_INIT: &str = "1389 1389 00000000 00000000 01000014 fcb75cca 000005dc 0001 0001 00000000";

#[test]
fn zero_can_be_the_right_checksum() {
    let bytes = hex(ZERO_CRC_INIT);
    let packet = Packet::parse(&bytes).expect("a packet");
    assert_eq!(packet.checksum(), 0);
    assert!(packet.checksum_is_valid());
    let mut written = Vec::new();
    let header = CommonHeader { source_port: 5001, destination_port: 5001, verification_tag: 0 };
    let mut writer = PacketWriter::new(&mut written, header, 1500);
    let init = InitBuilder {
        initiate_tag: 0xfcb7_5cca,
        a_rwnd: 1500,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(0),
        parameters: &[],
    };
    assert!(writer.push(&init));
    writer.finish(ChecksumMode::Crc32c);
    assert_eq!(written, bytes);
}

/// RFC 9260 §6.8, appendix §A.
#[test]
fn every_captured_packet_has_a_valid_checksum_and_every_flipped_bit_is_seen() {
    for (name, mut bytes) in all_captured() {
        assert!(Packet::parse(&bytes).expect(name).checksum_is_valid(), "{name}");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!Packet::parse(&bytes).expect(name).checksum_is_valid(), "{name}, bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// RFC 9653 §5.3.
#[test]
fn an_incorrect_zero_is_acceptable_only_where_announced() {
    let mut bytes = crate::testing::captured("linux_sack");
    let correct = Packet::parse(&bytes).expect("a packet");
    assert!(correct.checksum_is_acceptable(false) && correct.checksum_is_acceptable(true));
    bytes[8..12].fill(0);
    let zero = Packet::parse(&bytes).expect("a packet");
    assert!(!zero.checksum_is_acceptable(false) && zero.checksum_is_acceptable(true));
    bytes[8..12].fill(1);
    assert!(!Packet::parse(&bytes).expect("a packet").checksum_is_acceptable(true));
}
