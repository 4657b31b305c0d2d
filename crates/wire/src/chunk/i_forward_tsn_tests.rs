use super::*;
use crate::Chunk;
use crate::testing::{check, emitted, error_of, hex};

/// RFC 8260 §2.3.1.
#[test]
fn reads_and_writes_what_linux_sent() {
    let skipped = [SkippedMessage { stream: StreamId(0), unordered: false, message_id: MessageId(0x3c) }];
    let chunk = IForwardTsn { new_cumulative_tsn: Tsn(0x5f64_12af), skipped: List::from(&skipped) };
    check("linux_i_forward_tsn_shutdown", 0, Chunk::IForwardTsn(chunk));
}

#[test]
fn the_u_bit_is_the_lowest_of_the_reserved_half() {
    let skipped =
        [SkippedMessage { stream: StreamId(0x0102), unordered: true, message_id: MessageId(0x0304_0506) }];
    let chunk = IForwardTsn { new_cumulative_tsn: Tsn(7), skipped: List::from(&skipped) };
    assert_eq!(emitted(&chunk), hex("c2000010 00000007 0102 0001 03040506"));
}

#[test]
fn a_part_of_an_entry_is_malformed() {
    assert_eq!(error_of("c200000c 00000001 00010000"), ChunkErrorKind::CountMismatch);
    assert_eq!(error_of("c2000004"), ChunkErrorKind::TooShort);
}
