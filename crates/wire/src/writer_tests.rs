use super::*;
use crate::testing::captured;
use crate::{
    Chunk, CookieAck, CookieEcho, Data, Packet, PayloadProtocolId, SackBuilder, ShutdownAck, Ssn, StreamId,
    Tsn,
};

const HEADER: CommonHeader = CommonHeader { source_port: 5, destination_port: 6, verification_tag: 7 };

fn data(payload: &[u8]) -> Data<'_> {
    Data {
        immediate: false,
        unordered: false,
        beginning: true,
        ending: true,
        tsn: Tsn(1),
        stream: StreamId(0),
        ssn: Ssn(0),
        ppid: PayloadProtocolId(0),
        payload,
    }
}

#[test]
fn a_captured_packet_is_written_byte_for_byte_behind_another() {
    let expected = captured("usrsctp_cookie_ack_sack");
    let header = Packet::parse(&expected).expect("a packet").header();
    let Chunk::Sack(sack) = crate::testing::chunk_of(&expected, 1) else { panic!("a SACK") };
    let builder = SackBuilder {
        cumulative_tsn_ack: sack.cumulative_tsn_ack,
        a_rwnd: sack.a_rwnd,
        gap_ack_blocks: &[],
        duplicate_tsns: &[],
    };
    let mut out = b"earlier".to_vec();
    let mut writer = PacketWriter::new(&mut out, header, 100);
    assert!(writer.is_empty() && writer.push(&CookieAck) && writer.push(&builder) && !writer.is_empty());
    writer.finish(ChecksumMode::Crc32c);
    assert_eq!(out[..7], *b"earlier");
    assert_eq!(out[7..], expected);
}

#[test]
fn what_does_not_fit_is_not_written() {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER, 12 + 20 + 3);
    assert!(!writer.push(&data(b"hello")), "24 bytes into 23");
    assert_eq!((writer.len(), writer.remaining()), (12, 23));
    assert!(writer.push(&data(b"four")));
    assert_eq!((writer.len(), writer.remaining()), (32, 3));
    assert!(!writer.push(&ShutdownAck));
    writer.finish(ChecksumMode::Crc32c);
    assert_eq!(out.len(), 32);
    assert!(Packet::parse(&out).expect("a packet").checksum_is_valid());
}

#[test]
fn no_limit_lets_a_length_field_overflow() {
    let payload = vec![1; 70_000];
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER, usize::MAX);
    assert!(!writer.push(&data(&payload)));
    assert!(!writer.push(&CookieEcho { cookie: &payload[..65_533] }));
    assert!(writer.push(&data(&payload[..65_504])), "12 + 16 + 65,504 = 65,532");
    assert_eq!(writer.remaining(), 3);
    writer.finish(ChecksumMode::Crc32c);
    let packet = Packet::parse(&out).expect("a packet");
    assert!(matches!(packet.chunks().next(), Some(Ok(Chunk::Data(data))) if data.payload.len() == 65_504));
}

#[test]
fn a_limit_below_the_header_takes_no_chunk() {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER, 3);
    assert_eq!(writer.remaining(), 0);
    assert!(!writer.push(&ShutdownAck));
    writer.discard();
    assert!(out.is_empty());
}

#[test]
fn discard_leaves_what_was_there() {
    let mut out = vec![1, 2, 3];
    let mut writer = PacketWriter::new(&mut out, HEADER, 1500);
    assert!(writer.push(&ShutdownAck));
    writer.discard();
    assert_eq!(out, [1, 2, 3]);
}

/// RFC 9653 §5.2: a zero checksum, but never with INIT, COOKIE ECHO or ASCONF.
#[test]
fn a_zero_checksum_is_not_written_where_forbidden() {
    let write = |chunk: &dyn EmitChunk| {
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out, HEADER, 1500);
        assert!(writer.push(&ShutdownAck) && writer.push(&chunk));
        writer.finish(ChecksumMode::Zero);
        let packet = Packet::parse(&out).expect("a packet");
        (packet.checksum() == 0, packet.checksum_is_valid())
    };
    assert_eq!(write(&data(b"free")), (true, false));
    assert_eq!(write(&CookieEcho { cookie: b"bound" }), (false, true));
    for (name, index) in [("linux_init", 0), ("linux_auth_asconf_add", 1)] {
        let packet = captured(name);
        assert_eq!(write(&crate::testing::chunk_of(&packet, index)), (false, true), "{name}");
    }
}

#[test]
fn the_bytes_so_far_can_be_changed() {
    let mut out = vec![0; 5];
    let mut writer = PacketWriter::new(&mut out, HEADER, 1500);
    assert!(writer.push(&data(b"hole")));
    let bytes = writer.bytes_mut();
    assert_eq!(bytes.len(), 32);
    bytes[28..].copy_from_slice(b"full");
    writer.finish(ChecksumMode::Crc32c);
    let packet = Packet::parse(&out[5..]).expect("a packet");
    assert!(packet.checksum_is_valid());
    assert!(matches!(packet.chunks().next(), Some(Ok(Chunk::Data(data))) if data.payload == b"full"));
}
