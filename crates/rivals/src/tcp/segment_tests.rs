use proptest::prelude::*;

use super::*;

#[test]
fn a_segment_survives_the_wire() {
    let mut sack = SackBlocks::default();
    sack.push(7, 9);
    sack.push(u32::MAX, 3);
    let segment = Segment {
        source_port: 49_152,
        destination_port: 80,
        sequence: u32::MAX,
        acknowledgement: 5,
        flags: Flags::SYN_ACK,
        window: 1234,
        mss: Some(1460),
        window_scale: Some(9),
        sack_permitted: true,
        sack,
        payload: b"odd",
    };
    let mut bytes = vec![1, 2, 3];
    segment.write(&mut bytes);
    assert_eq!(Segment::read(&bytes[3..]), Some(segment));
}

/// A full segment without options is an IP packet of 1500 bytes with an MSS of 1460.
#[test]
fn a_header_without_options_has_20_bytes() {
    let mut bytes = Vec::new();
    Segment { payload: &[1; 1460], ..Segment::default() }.write(&mut bytes);
    assert_eq!(bytes.len(), 1480);
}

#[test]
fn flipped_bits_are_noticed() {
    let mut bytes = Vec::new();
    Segment { payload: &[0x5a; 99], flags: Flags::ACK, ..Segment::default() }.write(&mut bytes);
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Segment::read(&bytes), None, "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

proptest! {
    /// Whatever comes is read or refused, also where its checksum is right.
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = Segment::read(&bytes);
        if bytes.len() >= HEADER_BYTES {
            bytes[16..18].fill(0);
            let checksum = !sum(&bytes);
            bytes[16..18].copy_from_slice(&checksum.to_be_bytes());
            let _ = Segment::read(&bytes);
        }
    }
}
