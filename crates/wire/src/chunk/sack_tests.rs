use super::*;
use crate::Chunk;
use crate::testing::{bytes_of, captured, chunk_of, emitted, error_of, packet_of};

fn check(name: &str, expected: SackBuilder<'_>) {
    let packet = captured(name);
    let Chunk::Sack(sack) = chunk_of(&packet, 0) else { panic!("a SACK") };
    assert_eq!((sack.cumulative_tsn_ack, sack.a_rwnd), (expected.cumulative_tsn_ack, expected.a_rwnd));
    assert_eq!(sack.gap_ack_blocks().collect::<Vec<_>>(), expected.gap_ack_blocks);
    assert_eq!(sack.duplicate_tsns().collect::<Vec<_>>(), expected.duplicate_tsns);
    assert_eq!(emitted(&sack), bytes_of(&packet, 0));
    assert_eq!(emitted(&expected), bytes_of(&packet, 0));
}

#[test]
fn reads_and_writes_what_linux_sent() {
    let block = |start, end| GapAckBlock { start, end };
    check(
        "linux_sack_gaps",
        SackBuilder {
            cumulative_tsn_ack: Tsn(0x5f64_1272),
            a_rwnd: 0x0001_9510,
            gap_ack_blocks: &[block(2, 7), block(14, 15), block(37, 42)],
            duplicate_tsns: &[],
        },
    );
    check(
        "linux_sack_duplicate",
        SackBuilder {
            cumulative_tsn_ack: Tsn(0xd551_e714),
            a_rwnd: 0x0001_9ffb,
            gap_ack_blocks: &[],
            duplicate_tsns: &[Tsn(0xd551_e714)],
        },
    );
}

#[test]
fn counts_must_match_the_length() {
    let fixed = "00000001 00010000";
    assert_eq!(error_of(&format!("03000010 {fixed} 0001 0000")), ChunkErrorKind::CountMismatch);
    assert_eq!(error_of(&format!("03000014 {fixed} 0000 0000 00020003")), ChunkErrorKind::CountMismatch);
    assert_eq!(error_of(&format!("03000014 {fixed} ffff ffff 00020003")), ChunkErrorKind::CountMismatch);
    assert_eq!(error_of(&format!("03000012 {fixed} 0000 0000 00020000")), ChunkErrorKind::CountMismatch);
    assert_eq!(error_of(&format!("0300000c {fixed}")), ChunkErrorKind::TooShort);
}

#[test]
fn the_largest_that_fits_fits() {
    let blocks = vec![GapAckBlock { start: 2, end: 3 }; 500];
    for room in [0, 15, 16, 19, 20, 1452] {
        let entries = SackBuilder::max_entries(room);
        let fitting = |entries: usize| SackBuilder {
            cumulative_tsn_ack: Tsn(0),
            a_rwnd: 0,
            gap_ack_blocks: &blocks[..entries],
            duplicate_tsns: &[],
        };
        assert!(room < 16 || fitting(entries).wire_len() <= room, "{room}");
        assert!(fitting(entries + 1).wire_len() > room, "{room}");
    }
}

/// Two flags say for how many packets a SACK is, and nothing else about it changes.
#[test]
fn packets_are_counted_in_the_flags() {
    let gap_ack_blocks = &[GapAckBlock { start: 2, end: 3 }];
    let sack =
        SackBuilder { cumulative_tsn_ack: Tsn(7), a_rwnd: 9, gap_ack_blocks, duplicate_tsns: &[Tsn(6)] };
    for (packets, flags) in [(0, 0), (1, 0x40), (2, 0x80), (3, 0xc0), (200, 0xc0)] {
        let mut counted = emitted(&CountedSack { sack, packets });
        let packet = packet_of(&counted);
        let Chunk::Sack(read) = chunk_of(&packet, 0) else { panic!("a SACK") };
        assert_eq!(read.packets, packets.min(3));
        assert_eq!(emitted(&read), counted);
        assert_eq!(counted[1], flags);
        counted[1] = 0;
        assert_eq!(counted, emitted(&sack));
    }
}
