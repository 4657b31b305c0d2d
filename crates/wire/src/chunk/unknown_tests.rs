use super::*;
use crate::Chunk;
use crate::testing::{check, packet_of};

#[test]
fn keeps_every_byte() {
    let unknown = Unknown { chunk_type: 0xd5, flags: 0, raw: &[0xd5, 0, 0, 9, 1, 2, 3, 4, 5] };
    check("made_unknown_chunk", 0, Chunk::Unknown(unknown));
}

/// RFC 9260 §3.2, table 2.
#[test]
fn the_two_high_bits_say_what_to_do() {
    for (chunk_type, action, stops, reports) in [
        (0x3e, UnknownAction::Stop, true, false),
        (0x7e, UnknownAction::StopReport, true, true),
        (0xbe, UnknownAction::Skip, false, false),
        (0xfe, UnknownAction::SkipReport, false, true),
    ] {
        let packet = packet_of(&[chunk_type, 0x55, 0, 4]);
        let Chunk::Unknown(unknown) = crate::testing::chunk_of(&packet, 0) else { panic!("unknown") };
        assert_eq!((unknown.action(), unknown.flags), (action, 0x55));
        assert_eq!((unknown.action().stops(), unknown.action().reports()), (stops, reports));
    }
}
