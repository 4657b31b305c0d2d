use super::*;
use crate::Chunk;
use crate::testing::{emitted, hex, round_trip};

// No stack at hand sends these; the bytes follow the figure in RFC 4820 §3.
#[test]
fn reads_and_writes_the_figure() {
    assert_eq!(emitted(&PadBuilder { padding_len: 5 }), hex("84000009 00000000 00000000"));
    round_trip(&PadBuilder { padding_len: 5 }, |chunk| {
        assert_eq!(chunk, Chunk::Pad(Pad { padding: &[0; 5] }))
    });
}

#[test]
fn a_hole_is_filled_exactly_or_not_at_all() {
    for room in 0..66_000 {
        match PadBuilder::filling(room) {
            Some(pad) => assert_eq!(pad.wire_len(), room),
            None => assert!(room % 4 != 0 || !(4..=65_532).contains(&room), "{room}"),
        }
    }
}
