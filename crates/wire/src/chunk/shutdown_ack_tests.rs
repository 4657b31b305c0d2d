use super::*;
use crate::Chunk;
use crate::testing::{check, error_of};

/// RFC 9260 §3.3.9.
#[test]
fn reads_and_writes_what_linux_sent() {
    check("linux_shutdown_ack", 0, Chunk::ShutdownAck);
}

#[test]
fn any_other_length_is_malformed() {
    assert_eq!(error_of("08000008 00000000"), ChunkErrorKind::WrongLength);
}
