use super::*;
use crate::testing::{bytes_of, captured, check, chunk_of, emitted};
use crate::{Chunk, Tsn};

/// RFC 9260 §3.3.7.
#[test]
fn reads_and_writes_what_linux_sent() {
    let causes = Causes::from_wire(&[0, 12, 0, 4]);
    check("linux_abort", 0, Chunk::Abort(Abort { tag_reflected: false, causes }));
    let packet = captured("linux_abort_no_user_data");
    let Chunk::Abort(abort) = chunk_of(&packet, 0) else { panic!("an ABORT") };
    let causes: Vec<_> = abort.causes.collect();
    assert_eq!(causes, [Ok(Cause::NoUserData { tsn: Tsn(1001) })]);
    let causes = &[Cause::NoUserData { tsn: Tsn(1001) }];
    assert_eq!(emitted(&AbortBuilder { tag_reflected: false, causes }), bytes_of(&packet, 0));
}

#[test]
fn the_t_bit_is_the_lowest() {
    let reflected = AbortBuilder { tag_reflected: true, causes: &[] };
    assert_eq!(emitted(&reflected), [6, 1, 0, 4]);
    crate::testing::round_trip(&reflected, |chunk| {
        assert_eq!(chunk, Chunk::Abort(Abort { tag_reflected: true, causes: Causes::EMPTY }));
    });
}

/// RFC 9260 §3.3.7: a format error is one that hides where a cause ends. Causes with contents that make no sense, and
/// padding that is counted in the chunk, are none.
#[test]
fn causes_must_have_usable_lengths() {
    let decoded = |value: &[u8]| {
        let mut packet = vec![0; 12];
        packet.extend_from_slice(&[6, 0, 0, 4 + value.len() as u8]);
        packet.extend_from_slice(value);
        packet.resize(packet.len().next_multiple_of(4), 0);
        crate::Packet::parse(&packet).unwrap().chunks().next().unwrap().is_ok()
    };
    assert!(decoded(&[]));
    assert!(decoded(&[0, 12, 0, 5, b'x']));
    assert!(decoded(&[0, 12, 0, 5, b'x', 0, 0, 0]));
    assert!(decoded(&[0, 3, 0, 5, b'x', 0, 0, 0, 0, 99, 0, 4]));
    assert!(!decoded(&[0]));
    assert!(!decoded(&[0, 12, 0, 3]));
    assert!(!decoded(&[0, 12, 0, 6, b'x']));
    assert!(!decoded(&[0, 12, 0, 4, 0, 12, 0, 5]));
}
