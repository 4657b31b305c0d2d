use super::*;
use crate::Chunk;
use crate::testing::{check, error_of};

/// RFC 3758 §3.2.
#[test]
fn reads_and_writes_what_linux_sent() {
    let skipped = [SkippedStream { stream: StreamId(0), ssn: Ssn(8) }];
    let chunk = ForwardTsn { new_cumulative_tsn: Tsn(0xd551_e71c), skipped: List::from(&skipped) };
    check("linux_forward_tsn", 0, Chunk::ForwardTsn(chunk));
}

#[test]
fn a_part_of_an_entry_is_malformed() {
    assert_eq!(error_of("c000000a 00000001 00010000"), ChunkErrorKind::CountMismatch);
    assert_eq!(error_of("c0000004"), ChunkErrorKind::TooShort);
}
