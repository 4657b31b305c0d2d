use super::*;
use crate::Chunk;
use crate::testing::{check, chunk_of, emitted, error_of, hex, packet_of};

const HELLO: Data<'static> = Data {
    immediate: false,
    unordered: false,
    beginning: true,
    ending: true,
    tsn: Tsn(0x562b_70b2),
    stream: StreamId(0),
    ssn: Ssn(0),
    ppid: PayloadProtocolId(0),
    payload: b"hello\n",
};

#[test]
fn reads_and_writes_what_usrsctp_sent() {
    check("usrsctp_data", 0, Chunk::Data(HELLO));
}

/// RFC 9260 §3.3.1: Res, I, U, B, E from the high bit down; Res is ignored.
#[test]
fn each_flag_has_its_bit() {
    let with = |flags: u8| Data {
        immediate: flags & 8 != 0,
        unordered: flags & 4 != 0,
        beginning: flags & 2 != 0,
        ending: flags & 1 != 0,
        ..HELLO
    };
    for flags in 0..=255 {
        let mut bytes = emitted(&HELLO);
        bytes[1] = flags;
        assert_eq!(chunk_of(&packet_of(&bytes), 0), Chunk::Data(with(flags)));
        assert_eq!(emitted(&with(flags))[1], flags & 0x0f);
    }
}

#[test]
fn every_field_has_its_place() {
    let data = Data {
        tsn: Tsn(0x0102_0304),
        stream: StreamId(0x0506),
        ssn: Ssn(0x0708),
        ppid: PayloadProtocolId(0x090a_0b0c),
        payload: &[0xff],
        ..HELLO
    };
    assert_eq!(emitted(&data), hex("00030011 01020304 0506 0708 090a0b0c ff000000"));
}

#[test]
fn an_empty_payload_is_well_formed() {
    let packet = crate::testing::captured("made_data_without_payload");
    assert!(matches!(chunk_of(&packet, 0), Chunk::Data(Data { tsn: Tsn(1001), payload: [], .. })));
}

#[test]
fn less_than_the_header_is_malformed() {
    assert_eq!(error_of("0003000f 00000001 00000000 00000000"), ChunkErrorKind::TooShort);
}
