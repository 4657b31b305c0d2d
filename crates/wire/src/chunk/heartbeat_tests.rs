use super::*;
use crate::Chunk;
use crate::testing::{check, error_of, hex};

/// RFC 9260 §3.3.5.
#[test]
fn reads_and_writes_what_usrsctp_sent() {
    let info = hex("181c016bfdb00c00eb45100458e7822d021000000a8f0202000000000000000000000000");
    check("usrsctp_heartbeat", 0, Chunk::Heartbeat(Heartbeat { info: &info }));
}

#[test]
fn without_heartbeat_info_it_is_malformed() {
    assert_eq!(error_of("04000004"), ChunkErrorKind::MissingParameter, "nothing inside");
    assert_eq!(error_of("04000008 00020004"), ChunkErrorKind::MissingParameter, "another parameter");
    assert_eq!(error_of("04000008 00010008"), ChunkErrorKind::MissingParameter, "longer than the chunk");
    assert_eq!(error_of("04000006 00010000"), ChunkErrorKind::MissingParameter, "cut short");
}
