use super::*;
use crate::Chunk;
use crate::testing::{check, emitted, error_of, hex};

const FIRST: IData<'static> = IData {
    immediate: false,
    unordered: false,
    ending: true,
    tsn: Tsn(0x7af2_e376),
    stream: StreamId(0),
    message_id: MessageId(0),
    position: FragmentPosition::First(PayloadProtocolId(0)),
    payload: b"first",
};

#[test]
fn reads_and_writes_what_linux_sent() {
    check("linux_i_data", 0, Chunk::IData(FIRST));
    // The third fragment. By RFC 8260 §2.1 it has number 2; Linux 6.1 gives the second one number 0, as if the first
    // had none.
    let later = IData {
        tsn: Tsn(0x7af2_e379),
        message_id: MessageId(1),
        position: FragmentPosition::Later(1),
        payload: &[b'x'; 105],
        ..FIRST
    };
    check("linux_i_data_later", 0, Chunk::IData(later));
    assert!(FIRST.beginning() && !later.beginning());
    assert_eq!((FIRST.fragment_sequence_number(), later.fragment_sequence_number()), (0, 1));
}

#[test]
fn every_field_has_its_place() {
    let data = IData {
        immediate: true,
        unordered: true,
        ending: false,
        tsn: Tsn(0x0102_0304),
        stream: StreamId(0x0506),
        message_id: MessageId(0x0708_090a),
        position: FragmentPosition::First(PayloadProtocolId(0x0b0c_0d0e)),
        payload: &[0xff],
    };
    assert_eq!(emitted(&data), hex("400e0015 01020304 0506 0000 0708090a 0b0c0d0e ff000000"));
}

#[test]
fn less_than_the_header_is_malformed() {
    assert_eq!(error_of("40030013 00000001 00000000 00000000 00000000"), ChunkErrorKind::TooShort);
}
